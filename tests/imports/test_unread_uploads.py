"""A file that no import reads is reported to the supplier and to the operators."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from django.utils import timezone

from imports import publishing, sweeping
from imports.models import ImportJob
from sftp_ingest.area.files import put_in_area
from tests.factories import ImportJobFactory, UploadFactory
from tests.upload_area import area_of

pytestmark = pytest.mark.django_db

ROWS = b"sku,title\nA-1,Shirt\n"


@pytest.fixture
def put(acme):
    """Return a function that creates an upload from some minutes ago, which the sweep has already seen."""

    def go(path: str, minutes: int = 90):
        at = timezone.now() - timedelta(minutes=minutes)
        put_in_area(acme, path, [ROWS])
        digest = hashlib.sha256(ROWS).hexdigest()
        return UploadFactory.create(
            supplier=acme, path=path, size=len(ROWS), sha256=digest, uploaded_at=at, swept_at=at
        )

    return go


def test_a_file_without_an_automatic_import_gets_one_refused_job(put, acme):
    put("products/spring.csv")
    put("products/spring.csv")

    sweeping.report_unread()
    assert sweeping.report_unread() == 0

    job = ImportJob.objects.get()
    assert (job.supplier, job.kind, job.status) == (acme, "products", "failed")
    assert "autoImports/products" in publishing.summary(job)
    assert "not_read" in publishing.summary(job)


@pytest.mark.parametrize("path", ["inventory/stock.pdf", "tracking/today.doc"])
def test_a_file_with_another_ending_names_the_right_ones(put, path):
    put(path)
    sweeping.report_unread()

    assert ".csv, .tsv, .txt, .xlsx" in publishing.summary(ImportJob.objects.get())


def test_a_file_that_was_read_or_is_new_or_lies_elsewhere_is_not_reported(put, acme):
    put("products/new.csv", minutes=5)
    put("products/read.csv")
    ImportJobFactory.create(supplier=acme, source="products/read.csv")
    put("archive/notes.csv")

    assert sweeping.report_unread() == 0


def test_a_file_that_was_renamed_removed_or_replaced_is_not_reported(put, acme):
    area = area_of(acme)
    put("products/spring.csv.filepart")  # WinSCP renames the file when it is complete
    area.area.rename(("products", "spring.csv.filepart"), ("products", "spring.csv"))
    put("tracking/removed.csv")
    (area / "tracking/removed.csv").unlink()
    put("products/replaced.csv")
    (area / "products/replaced.csv").write_bytes(b"sku,title\nB-1,Coat\n")

    assert sweeping.report_unread() == 0


@pytest.mark.parametrize(
    "url",
    [
        "/products/a.csv",
        "products//a.csv",
        " products/a.csv ",
        "sftp://127.0.0.1/products/a.csv",
        "sftp://localhost/products/%61.csv",
    ],
)
def test_a_file_that_a_request_named_in_another_way_is_not_reported(put, acme, client_for, url):
    put("products/a.csv")

    started = client_for(acme).post("importProducts", {"file_url": url}).json()

    assert started["source"] == "products/a.csv"
    assert sweeping.report_unread() == 0

"""A file that no import reads is reported to the supplier and to the operators."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from imports import publishing, sweeping
from imports.models import ImportJob
from tests.factories import ImportJobFactory, UploadFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def put(acme):
    """Return a function that creates an upload from some minutes ago, which the sweep has already seen."""

    def go(path: str, minutes: int = 90):
        at = timezone.now() - timedelta(minutes=minutes)
        return UploadFactory.create(supplier=acme, path=path, uploaded_at=at, swept_at=at)

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

"""Two files under one name are two jobs, each with its own content (contract 17)."""

from __future__ import annotations

import io

import pytest

from fulfillments.models import Shipment
from imports import sweeping
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from sftp_ingest.area import contents
from sftp_ingest.models import Blob, Upload
from tests.fulfillments.files.conftest import HEADER

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def upload(acme_sftp):
    def put(row: str, name: str = "tracking/today.csv") -> None:
        acme_sftp.putfo(io.BytesIO(f"{HEADER}\n{row}\n".encode()), name)

    return put


def carried_out() -> list[tuple[str, int, int]]:
    """Import all new uploads. Return the source and the counts of updated and unchanged rows of each job."""
    sweeping.take_uploads()
    jobs = ImportJob.objects.order_by("pk")
    for job in jobs:
        run_job(job.pk)
    return list(jobs.values_list("source", "updated", "unchanged"))


def test_two_tracking_files_under_one_name_are_both_carried_out(upload, work):
    upload(f"{work.pk},ship,1Z1,UPS,,LAMP,,")
    upload(f"{work.pk},ship,1Z2,UPS,,MAT,,")

    assert carried_out() == [("tracking/today.csv", 1, 0), ("tracking/today.csv", 1, 0)]
    assert sorted(Shipment.objects.values_list("tracking_number", flat=True)) == ["1Z1", "1Z2"]


def test_a_file_that_is_renamed_onto_a_name_is_a_job_too(upload, acme_sftp, work):
    upload(f"{work.pk},ship,1Z1,UPS,,LAMP,,")
    upload(f"{work.pk},ship,1Z2,UPS,,MAT,,", "today.part")
    acme_sftp.posix_rename("today.part", "tracking/today.csv")

    assert carried_out() == [("tracking/today.csv", 1, 0), ("tracking/today.csv", 1, 0)]


def test_the_content_of_a_replaced_file_is_kept_until_its_job_has_it(upload, work, settings):
    upload(f"{work.pk},ship,1Z1,UPS,,LAMP,,")
    upload(f"{work.pk},ship,1Z2,UPS,,MAT,,")
    first = Blob.objects.get(uploads=Upload.objects.earliest("pk")).pk
    Blob.objects.update(unused_at="2020-01-01T00:00:00Z")

    contents.collect()
    assert Blob.objects.filter(pk=first).exists()

    assert len(carried_out()) == 2
    assert not Upload.objects.exclude(blob=None).exists()
    Blob.objects.update(unused_at="2020-01-01T00:00:00Z")
    contents.collect()
    assert not Blob.objects.filter(pk=first).exists()

"""Replaced and removed content is deleted within minutes while the disk has little room."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from sftp_ingest import tasks
from sftp_ingest.area import contents
from sftp_ingest.blobs.local import LocalStore
from sftp_ingest.models import GIB, Blob
from tests.upload_area import AreaPath

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def replaced(acme_area: AreaPath) -> int:
    """Replace a file of ten minutes ago two minutes ago. Return the number of its former content."""
    acme_area.area.prepare()
    path = acme_area / "products/a.csv"
    path.write_bytes(b"old")
    former = path.entry.blob_id
    assert former is not None
    path.write_bytes(b"new")
    now = timezone.now()
    past = {"completed_at": now - timedelta(minutes=10), "unused_at": now - timedelta(minutes=2)}
    Blob.objects.filter(pk=former).update(**past)
    return former


@pytest.fixture
def free(monkeypatch):
    """Return a function that sets the free bytes of the disk."""
    return lambda number: monkeypatch.setattr(LocalStore, "free_bytes", lambda _: number)


@pytest.mark.parametrize(("gigabytes", "is_kept"), [(1, False), (1000, True)])
def test_replaced_content_stays_for_its_readers_unless_the_disk_is_scarce(
    free, replaced, acme_area, gigabytes, is_kept
):
    free(gigabytes * GIB)

    tasks.collect()

    assert Blob.objects.filter(pk=replaced).exists() == is_kept
    assert (acme_area / "products/a.csv").read_bytes() == b"new"


def test_content_that_waits_for_its_first_row_is_kept_on_a_scarce_disk(free):
    free(GIB)
    fetched = contents.write([b"fetched"])
    Blob.objects.filter(pk=fetched.pk).update(unused_at=timezone.now() - timedelta(minutes=20))

    tasks.collect()

    assert Blob.objects.filter(pk=fetched.pk).exists()


def test_one_run_deletes_more_than_one_batch(free, monkeypatch):
    free(1000 * GIB)
    monkeypatch.setattr(contents, "AT_ONCE", 2)
    lost = [contents.write([b"x"]).pk for _ in range(5)]
    Blob.objects.filter(pk__in=lost).update(unused_at=timezone.now() - timedelta(hours=2))

    tasks.collect()

    assert not Blob.objects.filter(pk__in=lost).exists()

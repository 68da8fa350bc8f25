"""Content without a row, left by a rolled back transaction, is found in its store and deleted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache

from accounts.models import Supplier
from api.errors import Invalid
from sftp_ingest.area import contents, orphans
from sftp_ingest.blobs.store import Store
from sftp_ingest.blobs.stores import store_named
from sftp_ingest.models import Blob
from tests.client import ApiClient

pytestmark = pytest.mark.django_db(transaction=True)


def in_store(store: Store) -> set[int]:
    """Return the numbers of all stored blobs."""
    numbers: set[int] = set()
    bookmark: str | None = None
    while bookmark != "":
        found, bookmark = store.look(bookmark or "")
        numbers |= {each.number for each in found}
    return numbers


@pytest.fixture
def lost(
    store: Store, acme: Supplier, client_for: Callable[..., ApiClient], monkeypatch: pytest.MonkeyPatch
) -> int:
    """Make a request that is refused after its lines were stored. Return the number of the lost content."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise Invalid("Not this one.")

    before = in_store(store)
    with monkeypatch.context() as patched:
        patched.setattr("imports.views.starting.start_import", refuse)
        answer = client_for(acme).post(
            "importProducts", {"data": ["sku,title", "A-1,Lamp"]}, Idempotency_Key="once"
        )
    assert answer.status_code == 400
    (number,) = in_store(store) - before
    assert not Blob.objects.filter(pk=number).exists()
    return number


@pytest.fixture
def days_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orphans, "LOST_AFTER", -timedelta(days=1))


def collect(times: int = 4) -> int:
    cache.delete_many(["sftp_ingest:orphans:local", "sftp_ingest:orphans:s3"])
    return sum(orphans.collect() for _ in range(times))


def test_young_content_may_still_get_its_row(lost: int, store: Store):
    assert collect() == 0
    assert lost in in_store(store)


@pytest.mark.usefixtures("days_pass")
def test_old_orphans_are_deleted_and_content_with_a_row_stays(lost: int, store: Store):
    kept = contents.write([b"sku\n"])

    assert collect() == 1
    assert lost not in in_store(store)
    assert contents.reader_of(kept).read(0, 10) == b"sku\n"
    assert collect() == 0


@pytest.mark.usefixtures("days_pass")
def test_future_numbers_of_a_restored_database_stay_untouched(store: Store):
    writer = store.create(2**40)
    writer.write(0, b"from before")
    writer.complete(len(b"from before"))

    assert collect() == 0
    assert 2**40 in in_store(store)


def test_files_of_others_do_not_stop_the_search(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path
    blob = contents.write([b"sku\n"])
    folder = next(path for path in (tmp_path / "blobs").iterdir() if path.is_dir())
    for name in (".nfs0000000000000001", ".DS_Store"):  # NFS keeps a deleted file that someone reads
        (folder / name).touch()

    assert in_store(store_named(blob.store)) == {blob.pk}


def left_by_killed_process(path: Path, days: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"sku\n")
    then = time.time() - timedelta(days=days).total_seconds()
    os.utime(path, (then, then))
    return path


def test_copies_that_killed_resumptions_left_are_deleted_and_their_blob_stays(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path
    blob = contents.write([b"sku\n"])
    folder = next(path for path in (tmp_path / "blobs").iterdir() if path.is_dir())
    dead = left_by_killed_process(folder / f"{blob.pk}.0a1b2c3d", days=2)
    young = left_by_killed_process(folder / f"{blob.pk}.4e5f6a7b", days=0.5)

    assert collect() == 0
    assert (dead.exists(), young.exists()) == (False, True)
    assert contents.reader_of(blob).read(0, 10) == b"sku\n"


def test_files_that_killed_workers_fetched_from_the_bucket_are_deleted(settings, tmp_path, uploads_url):
    settings.UPLOADS_DIR, settings.UPLOADS_URL = tmp_path, uploads_url
    blob = contents.write([b"sku\n"])
    dead = left_by_killed_process(tmp_path / "sending" / "tmpdead", days=2)
    young = left_by_killed_process(tmp_path / "sending" / "tmpyoung", days=0.5)

    with contents.local_file(blob) as path:
        assert path.read_bytes() == b"sku\n"

    assert (dead.exists(), young.exists()) == (False, True)

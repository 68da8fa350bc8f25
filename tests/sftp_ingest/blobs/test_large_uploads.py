"""A large upload is cut at each stage: no part of it is visible, and it can be resumed."""

from __future__ import annotations

import hashlib

import pytest
from django.db import OperationalError

from accounts.models import Supplier
from imports.sweeping import take_uploads
from sftp_ingest.area import contents
from sftp_ingest.area.files import Area
from sftp_ingest.blobs.bucket import Bucket
from sftp_ingest.blobs.local import LocalWriter
from sftp_ingest.blobs.s3 import S3Writer
from sftp_ingest.blobs.store import Store
from sftp_ingest.models import Blob, DroppedBlob, OpenUpload, Upload
from sftp_ingest.tasks import collect
from tests.sftp_ingest.area.test_resuming import go_on
from tests.sftp_ingest.blobs.conftest import PART
from tests.sftp_ingest.blobs.test_stores import LARGE
from tests.sftp_ingest.conftest import put
from tests.upload_area import AreaPath

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

PATH = "products/large.csv"


@pytest.fixture(autouse=True)
def _store(_own_folder: None, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test on each store, with a checkpoint every few bytes."""
    monkeypatch.setattr("sftp_ingest.area.incoming.KEEP_EVERY_BYTES", PART // 50)


def is_whole(path: AreaPath) -> bool:
    upload = Upload.objects.get(path=PATH)
    assert upload.sha256 == hashlib.sha256(LARGE).hexdigest()
    assert Area(path.supplier.pk).recalculate() == 0
    return path.read_bytes() == LARGE and not OpenUpload.objects.exists()


@pytest.mark.parametrize("came", [1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 7, len(LARGE)])
def test_an_upload_cut_at_any_stage_continues(leave_cut, acme_sftp, acme_area: AreaPath, came: int):
    leave_cut(PATH, LARGE[:came])

    assert acme_sftp.stat(PATH).st_size == came
    assert acme_sftp.listdir("products") == []
    assert not Upload.objects.exists()
    go_on(acme_sftp, LARGE, PATH)
    assert is_whole(acme_area / PATH)


def test_an_upload_that_is_cut_repeatedly_continues(leave_cut, acme_sftp, acme_area: AreaPath):
    leave_cut(PATH, LARGE[: PART + 1])
    leave_cut(PATH, LARGE[PART + 1 : 2 * PART + 3], at=PART + 1)
    go_on(acme_sftp, LARGE, PATH)

    assert is_whole(acme_area / PATH)


@pytest.mark.parametrize("stage", ["send_part", "complete", "put", "checkpoint", "write"])
def test_a_store_that_fails_at_any_stage_leaves_the_former_version(
    acme_sftp, acme_area: AreaPath, monkeypatch, stage: str
):
    put(acme_sftp, b"former\n", PATH)

    def fail(*args: object) -> None:
        raise OSError("The storage does not answer.")

    with monkeypatch.context() as patched:
        for kind in (Bucket, LocalWriter, S3Writer) if stage == "write" else (Bucket, LocalWriter):
            if hasattr(kind, stage):
                patched.setattr(kind, stage, fail)
        failed = False
        try:
            put(acme_sftp, LARGE, PATH)
        except OSError:
            failed = True

    assert (acme_area / PATH).read_bytes() == (b"former\n" if failed else LARGE)
    # The named stages exist in only one of the two stores.
    assert failed or stage in ("send_part", "put", "checkpoint")
    put(acme_sftp, LARGE, PATH)
    assert (acme_area / PATH).read_bytes() == LARGE
    assert Area(acme_area.supplier.pk).recalculate() == 0


def test_a_commit_that_fails_leaves_the_former_version(acme_sftp, acme_area: AreaPath, monkeypatch):
    put(acme_sftp, b"former\n", PATH)

    def no_answer(*args: object, **kwargs: object) -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(Upload, "save", no_answer)
        with pytest.raises(OSError, match="database does not answer"):
            put(acme_sftp, LARGE, PATH)

    assert (acme_area / PATH).read_bytes() == b"former\n"


def test_blobs_without_references_are_collected_and_others_stay(
    acme_sftp, acme: Supplier, acme_area: AreaPath, store: Store, monkeypatch
):
    put(acme_sftp, LARGE, PATH)
    former = (acme_area / PATH).entry.blob_id
    put(acme_sftp, b"sku\n", PATH)
    assert take_uploads() == 0  # until the sweep, each upload keeps its content for its own job
    contents.write([b"that nothing came to refer to"])
    collect()
    assert Blob.objects.count() == 3  # a reader may still use an unused blob

    monkeypatch.setattr(contents, "UNUSED_KEPT", -contents.UNUSED_KEPT)
    collect()

    present = (acme_area / PATH).entry.blob_id
    assert [blob.pk for blob in Blob.objects.all()] == [present]
    assert not DroppedBlob.objects.exists()
    assert former is not None
    assert store.size(former) is None
    assert acme_sftp.open(PATH).read() == b"sku\n"


def test_content_whose_deletion_fails_is_deleted_later(acme_sftp, store: Store, monkeypatch):
    blob = contents.write([b"unused"])
    monkeypatch.setattr(contents, "UNUSED_KEPT", -contents.UNUSED_KEPT)

    def fail(*args: object) -> None:
        raise OSError("The storage does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(type(store), "delete", fail)
        with pytest.raises(OSError, match="does not answer"):
            collect()
    assert [each.number for each in DroppedBlob.objects.all()] == [blob.pk]
    collect()

    assert store.size(blob.pk) is None
    assert not DroppedBlob.objects.exists()

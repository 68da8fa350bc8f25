"""The quota of an upload area."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accounts.models import Supplier
from sftp_ingest.area import cut_uploads, quota
from sftp_ingest.area.files import Area
from sftp_ingest.errors import Refused
from sftp_ingest.models import GIB, OpenUpload, SftpLogin, UploadArea
from tests.sftp_ingest.conftest import put

pytestmark = pytest.mark.django_db(transaction=True)


def test_quotas_are_enforced_during_an_upload(server, acme: Supplier, login_of, connect, acme_area):
    login_of(acme, quota_bytes=1000, largest_file_bytes=600)
    sftp = connect(server, "acme").open_sftp()

    with pytest.raises(OSError, match="maximum is 600 bytes"):
        put(sftp, b"x" * 601, "products/large.csv")
    put(sftp, b"x" * 600, "products/a.csv")
    with pytest.raises(OSError, match="area is full"):
        put(sftp, b"x" * 600, "products/b.csv")
    sftp.remove("products/a.csv")
    put(sftp, b"x" * 600, "products/b.csv")
    put(sftp, b"x" * 400, "products/c.csv")
    put(sftp, b"", "products/empty.csv")

    assert (acme_area / "products").names() == ["b.csv", "c.csv", "empty.csv"]


def test_a_full_disk_is_reported(acme_login: SftpLogin, server, connect, monkeypatch):
    monkeypatch.setattr("sftp_ingest.area.incoming.MIN_FREE_DISK", 2**62)

    with pytest.raises(OSError, match="disk of this service is full"):
        connect(server, "acme").open_sftp().open("products/a.csv", "w")


def test_the_used_bytes_are_the_sum_of_all_files_after_any_history(server, acme: Supplier, login_of, connect):
    login_of(acme, quota_bytes=10_000)
    sftp = connect(server, "acme").open_sftp()
    put(sftp, b"x" * 1000, "products/a.csv")
    put(sftp, b"x" * 300, "products/a.csv")
    put(sftp, b"x" * 200, "products/b.csv")
    sftp.posix_rename("products/a.csv", "products/b.csv")
    with pytest.raises(OSError, match="area is full"):
        put(sftp, b"x" * 10_001, "products/c.csv")
    put(sftp, b"x" * 50, "inventory/d.csv")
    sftp.remove("inventory/d.csv")
    open_file = sftp.open("products/e.csv", "w")
    open_file.write(b"x" * 70)
    open_file.stat()

    assert quota.used(acme.pk) == 370
    assert Area(acme.pk).recalculate() == 0
    open_file.close()
    assert quota.used(acme.pk) == 370


def test_the_used_bytes_can_be_recalculated(acme: Supplier, acme_area):
    (acme_area / "products/a.csv").write_text("x" * 10)
    UploadArea.objects.update(used_bytes=7)

    assert Area(acme.pk).recalculate() == 3
    assert quota.used(acme.pk) == 10


@pytest.fixture
def open_upload(acme_login: SftpLogin, server, connect) -> Iterator[OpenUpload]:
    """Yield an open upload of 70 bytes."""
    file = connect(server, "acme").open_sftp().open("products/a.csv", "w")
    file.write(b"x" * 70)
    file.stat()
    yield OpenUpload.objects.get()
    file.close()


def test_bytes_are_reserved_in_one_statement_that_locks(
    open_upload: OpenUpload, acme: Supplier, django_assert_num_queries
):
    with django_assert_num_queries(
        2
    ):  # queries: the files that imports keep, without a lock; the reservation
        quota.reserve(open_upload, 30, GIB)

    open_upload.refresh_from_db()
    assert open_upload.reserved_bytes == quota.used(acme.pk) == 70 + quota.LEAST_AT_ONCE


def test_fewer_bytes_are_reserved_when_few_are_free(open_upload: OpenUpload, acme: Supplier):
    quota.reserve(open_upload, 30, 70 + 1600)
    assert quota.used(acme.pk) == 70 + 100

    with pytest.raises(Refused, match="area is full"):
        quota.reserve(open_upload, 1501, 70 + 1600)
    open_upload.refresh_from_db()
    assert open_upload.reserved_bytes == quota.used(acme.pk) == 70 + 100


def test_an_upload_that_another_session_has_resumed_reserves_no_bytes(
    open_upload: OpenUpload, acme: Supplier
):
    open_upload.holder = "another"

    with pytest.raises(cut_uploads.TakenUp):
        quota.reserve(open_upload, 30, GIB)
    assert quota.used(acme.pk) == 70

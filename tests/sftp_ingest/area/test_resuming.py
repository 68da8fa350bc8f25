"""A cut upload can be resumed by its login for a day. It is not a file until it is complete."""

from __future__ import annotations

import errno
import os
from datetime import timedelta

import paramiko
import pytest
from paramiko.sftp import CMD_CLOSE, CMD_OPEN

from accounts.actors import Actor
from accounts.models import Supplier
from sftp_ingest import services
from sftp_ingest.area import cut_uploads, quota
from sftp_ingest.blobs.store import Checkpoint
from sftp_ingest.models import Blob, OpenUpload, SftpLogin, Upload
from sftp_ingest.server.listener import SftpServer
from sftp_ingest.server.session import SessionLimits
from sftp_ingest.tasks import collect
from tests.sftp_ingest.conftest import put, serving
from tests.upload_area import AreaPath

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"sku,title\nA-1\n"
PATH = "products/spring.csv"


def go_on(client: paramiko.SFTPClient, content: bytes, path: str = PATH, *, at: int | None = None) -> None:
    """Write the missing bytes of an interrupted upload, or all bytes from `at` on.

    Fail if the CLOSE is refused.
    """
    flags = paramiko.sftp.SFTP_FLAG_WRITE | paramiko.sftp.SFTP_FLAG_CREATE
    start = client.stat(path).st_size if at is None else at
    _, message = client._request(CMD_OPEN, path.encode(), flags, paramiko.SFTPAttributes())
    file = paramiko.SFTPFile(client, message.get_binary(), "wb")
    file.seek(start)
    file.write(content[start:])
    file.flush()
    file._closed = True
    client._request(CMD_CLOSE, file.handle)


@pytest.mark.parametrize("came", range(1, len(CSV) + 1))
def test_an_upload_cut_at_any_byte_continues_from_there(
    leave_cut, server, connect, acme_area: AreaPath, came: int
):
    leave_cut(PATH, CSV[:came])
    client = connect(server, "acme").open_sftp()

    assert client.stat(PATH).st_size == came
    assert client.listdir("products") == []
    with pytest.raises(FileNotFoundError):
        client.open(PATH)
    assert not Upload.objects.exists()
    assert not (acme_area / PATH).exists()

    go_on(client, CSV)
    assert (acme_area / PATH).read_bytes() == CSV
    assert Upload.objects.get().size == len(CSV)
    assert not OpenUpload.objects.exists()


def test_an_upload_cut_before_its_first_byte_leaves_no_file(leave_cut, server, connect):
    leave_cut(PATH, b"")

    with pytest.raises(FileNotFoundError):
        connect(server, "acme").open_sftp().stat(PATH)


def test_the_former_version_stays_until_the_new_version_is_complete(
    leave_cut, acme_sftp, acme_area: AreaPath
):
    put(acme_sftp, b"former\n", PATH)
    leave_cut(PATH, CSV[:10])

    assert acme_sftp.open(PATH).read() == b"former\n"
    assert acme_sftp.stat(PATH).st_size == 10
    go_on(acme_sftp, CSV)
    assert (acme_area / PATH).read_bytes() == CSV


def test_an_upload_that_was_cut_twice_can_be_resumed_again(leave_cut, acme_sftp, acme_area: AreaPath):
    leave_cut(PATH, CSV[:3])
    leave_cut(PATH, CSV[3:8], at=3)
    assert acme_sftp.stat(PATH).st_size == 8
    go_on(acme_sftp, CSV)

    assert (acme_area / PATH).read_bytes() == CSV


def test_resuming_before_the_cut_overwrites_received_bytes(leave_cut, acme_sftp, acme_area: AreaPath):
    leave_cut(PATH, CSV[:10])
    go_on(acme_sftp, CSV, at=4)

    assert (acme_area / PATH).read_bytes() == CSV


def test_resuming_beyond_the_cut_is_refused(leave_cut, acme_sftp, acme_area: AreaPath):
    leave_cut(PATH, CSV[:10])

    with pytest.raises(OSError, match="Put the whole file"):
        go_on(acme_sftp, CSV, at=11)
    assert not (acme_area / PATH).exists()


def test_a_new_put_begins_from_the_start(leave_cut, acme_sftp, acme_area: AreaPath):
    leave_cut(PATH, CSV[:10])
    put(acme_sftp, b"new\n", PATH)

    assert (acme_area / PATH).read_bytes() == b"new\n"
    assert acme_sftp.stat(PATH).st_size == 4


def test_bytes_after_a_gap_are_not_kept(server: SftpServer, acme_login: SftpLogin, connect, cut):
    client = connect(server, "acme")
    file = client.open_sftp().open(PATH, "w")
    for offset in (0, 8, 4):
        file.seek(offset)
        file.write(CSV[offset : offset + 2])
    cut(client)

    assert connect(server, "acme").open_sftp().stat(PATH).st_size == 2


def test_a_file_with_a_gap_is_refused(acme_sftp, acme_area: AreaPath):
    file = acme_sftp.open(PATH, "w")
    file.write(CSV[:4])
    file.flush()
    file.seek(8)
    file.write(CSV[8:])
    file.flush()
    file._closed = True

    with pytest.raises(OSError, match="bytes from 4 on are missing"):
        acme_sftp._request(CMD_CLOSE, file.handle)
    assert not (acme_area / PATH).exists()


def test_the_next_session_can_resume_the_upload_of_a_session_that_hangs(
    server, acme_login, connect, acme_area
):
    hanging = connect(server, "acme").open_sftp().open(PATH, "w")
    hanging.write(CSV[:10])
    hanging.stat()
    client = connect(server, "acme").open_sftp()
    assert client.stat(PATH).st_size == 10
    go_on(client, CSV)

    assert (acme_area / PATH).read_bytes() == CSV
    with pytest.raises(OSError, match="Another connection"):
        hanging.write(b"more")
    assert Upload.objects.count() == 1


def test_another_supplier_does_not_see_a_cut_upload(leave_cut, server, rival: Supplier, login_of, connect):
    leave_cut(PATH, CSV[:10])
    login_of(rival)
    other = connect(server, "rival").open_sftp()

    with pytest.raises(FileNotFoundError):
        other.stat(PATH)
    with pytest.raises(OSError, match="are missing"):
        go_on(other, CSV, at=10)


def test_another_login_of_the_supplier_does_not_see_a_cut_upload(
    leave_cut, acme: Supplier, server, login_of, connect
):
    leave_cut(PATH, CSV[:10])
    SftpLogin.objects.all().delete()
    login_of(acme, username="acme2")

    with pytest.raises(FileNotFoundError):
        connect(server, "acme2").open_sftp().stat(PATH)


def test_a_cut_upload_is_deleted_after_a_day(
    leave_cut, acme_sftp, acme_area: AreaPath, monkeypatch, settings
):
    leave_cut(PATH, CSV[:10])
    collect()
    assert acme_sftp.stat(PATH).st_size == 10
    monkeypatch.setattr(cut_uploads, "KEPT", timedelta(seconds=-1))

    with pytest.raises(FileNotFoundError):
        acme_sftp.stat(PATH)
    collect()
    assert not Blob.objects.exists()
    assert [path for path in settings.UPLOADS_DIR.rglob("*") if path.is_file()] == []


def test_a_cut_upload_survives_a_restart_of_the_server(acme_login: SftpLogin, connect, acme_area: AreaPath):
    with serving(SessionLimits()) as server:
        file = connect(server, "acme").open_sftp().open(PATH, "w")
        file.write(CSV[:10])
        file.stat()
    with serving(SessionLimits()) as server:
        client = connect(server, "acme").open_sftp()
        assert client.stat(PATH).st_size == 10
        go_on(client, CSV)
        client.close()

    assert (acme_area / PATH).read_bytes() == CSV


def test_a_file_that_cannot_be_kept_is_dropped_and_other_files_are_kept(
    server, acme_login: SftpLogin, connect, cut, acme_area: AreaPath, monkeypatch
):
    keep = cut_uploads.keep

    def full(upload: OpenUpload, kept: Checkpoint) -> None:
        if upload.path == "products/first.csv":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        keep(upload, kept)

    monkeypatch.setattr(cut_uploads, "keep", full)
    client = connect(server, "acme")
    sftp = client.open_sftp()
    files = [sftp.open(f"products/{name}", "w") for name in ("first.csv", "second.csv")]
    for file in files:
        file.write(CSV)
        file.stat()
    cut(client)

    other = connect(server, "acme").open_sftp()
    with pytest.raises(FileNotFoundError):
        other.stat("products/first.csv")
    assert other.stat("products/second.csv").st_size == len(CSV)
    assert OpenUpload.objects.get().path == "products/second.csv"


def test_a_cut_upload_can_be_removed(leave_cut, acme_sftp):
    leave_cut(PATH, CSV[:10])
    acme_sftp.remove(PATH)

    with pytest.raises(FileNotFoundError):
        acme_sftp.stat(PATH)


def test_a_cut_upload_counts_against_the_quota(acme: Supplier, server, login_of, connect, leave_cut):
    login_of(acme, quota_bytes=100)
    leave_cut(PATH, b"x" * 60)
    client = connect(server, "acme").open_sftp()

    with pytest.raises(OSError, match="area is full"):
        go_on(client, b"x" * 101)


def test_a_cut_upload_is_dropped_when_the_quota_is_short(
    acme: Supplier, server, login_of, connect, leave_cut
):
    """Folders do not list cut uploads, so users cannot find and remove them."""
    login_of(acme, quota_bytes=100)
    leave_cut(PATH, b"x" * 60)
    client = connect(server, "acme").open_sftp()
    put(client, b"x" * 60, "products/other.csv")

    with pytest.raises(FileNotFoundError):
        client.stat(PATH)
    with pytest.raises(OSError, match="area is full"):
        put(client, b"x" * 60, "products/third.csv")


def test_a_cut_upload_is_deleted_with_its_login(leave_cut, acme: Supplier, settings):
    leave_cut(PATH, CSV[:10])
    services.delete(SftpLogin.objects.get(), by=Actor.system("test"))
    collect()

    assert quota.used(acme.pk) == 0
    assert not Blob.objects.exists()
    assert [path for path in settings.UPLOADS_DIR.rglob("*") if path.is_file()] == []

"""A file appears completely or not at all, and each complete upload is recorded."""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Callable

import paramiko
import pytest
from django.db import OperationalError
from paramiko.sftp import CMD_CLOSE, CMD_OPEN

from accounts.models import Supplier
from sftp_ingest.blobs.local import LocalWriter
from sftp_ingest.models import Blob, OpenUpload, SftpLogin, Upload
from sftp_ingest.server.listener import SftpServer
from tests.sftp_ingest.conftest import put
from tests.upload_area import AreaPath

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"sku,title\nA-1,Lamp\n"


def unfinished() -> list[str]:
    """Return the paths of unfinished uploads. Check that each of them has an incomplete blob."""
    assert Blob.objects.filter(completed_at=None).count() == OpenUpload.objects.count()
    return [upload.path for upload in OpenUpload.objects.all()]


def test_a_put_appears_is_recorded_and_reads_back(acme_sftp, acme: Supplier, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")

    upload = Upload.objects.get()
    assert (upload.supplier, upload.path, upload.size) == (acme, "products/spring.csv", len(CSV))
    assert upload.sha256 == hashlib.sha256(CSV).hexdigest()
    assert upload.remote_address == "127.0.0.1"
    assert upload.swept_at is None
    assert acme_sftp.listdir("products") == ["spring.csv"]
    assert acme_sftp.open("/products/spring.csv").read() == CSV
    assert unfinished() == []


def test_a_put_into_the_first_folder_works_too(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(CSV), "products.csv")

    assert (acme_area / "products.csv").read_bytes() == CSV
    assert sorted(acme_sftp.listdir()) == [
        "inventory",
        "orders",
        "products",
        "products.csv",
        "templates",
        "tracking",
    ]


def test_a_file_is_not_visible_before_it_is_complete(acme_sftp, acme_area: AreaPath):
    file = acme_sftp.open("products/spring.csv", "w")
    file.write(CSV)
    file.flush()

    assert acme_sftp.listdir("products") == []
    assert len(unfinished()) == 1
    file.close()
    assert acme_sftp.listdir("products") == ["spring.csv"]


def test_a_broken_upload_leaves_nothing_in_the_area(
    server: SftpServer, acme_login: SftpLogin, connect: Callable[..., paramiko.SSHClient], acme_area: AreaPath
):
    client = connect(server, "acme")
    file = client.open_sftp().open("products/spring.csv", "w")
    file.write(CSV)
    file.stat()
    (session,) = server.sessions
    client.get_transport().sock.close()  # the network is cut before the client sends CLOSE
    session.handlers[0].join(60)

    assert (acme_area / "products").names() == []
    assert unfinished() == ["products/spring.csv"]
    assert not Upload.objects.exists()


def test_a_second_put_replaces_the_first_and_open_readers_keep_the_old_content(
    acme_sftp, acme_area: AreaPath
):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")
    reader = acme_sftp.open("products/spring.csv")
    acme_sftp.putfo(io.BytesIO(b"sku\n"), "products/spring.csv")

    assert reader.read() == CSV
    assert (acme_area / "products/spring.csv").read_bytes() == b"sku\n"
    assert Upload.objects.count() == 2


def test_a_file_that_the_database_does_not_record_does_not_appear(
    acme_sftp, acme_area: AreaPath, monkeypatch
):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")

    def no_answer(*args: object, **kwargs: object) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(Upload, "save", no_answer)
    with pytest.raises(OSError, match="database does not answer"):
        put(acme_sftp, b"sku\n", "products/spring.csv")
    with pytest.raises(OSError, match="database does not answer"):
        put(acme_sftp, b"sku\n", "products/other.csv")

    assert (acme_area / "products").names() == ["spring.csv"]
    assert (acme_area / "products/spring.csv").read_bytes() == CSV
    assert unfinished() == []


def test_a_failed_commit_leaves_the_former_files(acme_sftp, acme_area: AreaPath, monkeypatch):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")
    tried = []

    def no_commit(self: object) -> None:
        tried.append(True)
        raise OperationalError("the server closed the connection")

    for name in ("spring.csv", "other.csv"):
        file = acme_sftp.open(f"products/{name}", "w")
        file.write(b"sku\n")
        file.stat()
        with monkeypatch.context() as patched:
            patched.setattr("django.db.backends.base.base.BaseDatabaseWrapper.commit", no_commit)
            with pytest.raises(OSError, match="database does not answer"):
                close(acme_sftp, file)

    assert tried
    assert (acme_area / "products").names() == ["spring.csv"]
    assert (acme_area / "products/spring.csv").read_bytes() == CSV
    assert Upload.objects.count() == 1


def test_a_file_written_out_of_order_has_the_digest_of_the_whole(acme_sftp):
    with acme_sftp.open("products/spring.csv", "w") as file:
        file.seek(3)
        file.write(b",title\n")
        file.seek(0)
        file.write(b"sku")

    assert Upload.objects.get().sha256 == hashlib.sha256(b"sku,title\n").hexdigest()


def test_a_file_of_which_a_part_could_not_be_written_does_not_appear(
    acme_sftp, acme_area: AreaPath, monkeypatch
):
    def no_space(*args: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = acme_sftp.open("products/spring.csv", "w")
    with monkeypatch.context() as patched:
        patched.setattr(LocalWriter, "write", no_space)
        with pytest.raises(OSError, match="disk of this service is full"):
            file.write(CSV)
    file.write(CSV)
    file.close()

    assert (acme_area / "products").names() == []
    assert unfinished() == []


def open_in_place(client: paramiko.SFTPClient, path: str) -> paramiko.SFTPFile:
    """Open for writing without truncating, as scp does."""
    flags = paramiko.sftp.SFTP_FLAG_WRITE | paramiko.sftp.SFTP_FLAG_CREATE
    _, message = client._request(CMD_OPEN, path.encode(), flags, paramiko.SFTPAttributes())
    return paramiko.SFTPFile(client, message.get_binary(), "wb")


def close(client: paramiko.SFTPClient, file: paramiko.SFTPFile) -> None:
    """Close a file, and fail if the server refuses."""
    file.flush()
    file._closed = True
    client._request(CMD_CLOSE, file.handle)


def test_a_file_overwritten_from_its_start_is_replaced_as_a_whole(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")
    file = open_in_place(acme_sftp, "products/spring.csv")
    file.write(CSV + b"A-2,Chair\n")
    file.flush()
    assert (acme_area / "products/spring.csv").read_bytes() == CSV
    close(acme_sftp, file)

    assert (acme_area / "products/spring.csv").read_bytes() == CSV + b"A-2,Chair\n"
    assert Upload.objects.count() == 2


def test_a_file_overwritten_up_to_its_middle_stays_unchanged(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")
    file = open_in_place(acme_sftp, "products/spring.csv")
    file.write(b"SKU")

    with pytest.raises(OSError, match="Put the whole file"):
        close(acme_sftp, file)
    assert (acme_area / "products/spring.csv").read_bytes() == CSV
    assert Upload.objects.count() == 1


def test_a_file_cannot_be_overwritten_from_its_middle_on(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")
    file = open_in_place(acme_sftp, "products/spring.csv")
    file.seek(3)

    with pytest.raises(OSError, match="Put the whole file"):
        file.write(CSV)
    with pytest.raises(OSError, match="Put the whole file"):
        close(acme_sftp, file)
    assert (acme_area / "products/spring.csv").read_bytes() == CSV


def test_a_file_that_is_only_opened_and_closed_is_no_upload(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")
    close(acme_sftp, open_in_place(acme_sftp, "products/spring.csv"))

    assert (acme_area / "products/spring.csv").read_bytes() == CSV
    assert Upload.objects.count() == 1
    assert unfinished() == []


@pytest.mark.parametrize("mode", ["a", "r+"])
def test_files_are_not_changed_in_part(acme_sftp, mode: str):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv")

    with pytest.raises(OSError, match="Put the whole file"):
        acme_sftp.open("products/spring.csv", mode)


def test_folders_can_be_made_renamed_and_removed(acme_sftp, acme_area: AreaPath):
    acme_sftp.mkdir("products/spring")
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring/lamps.csv")
    acme_sftp.rename("products/spring", "products/summer")
    assert acme_sftp.listdir("products/summer") == ["lamps.csv"]

    with pytest.raises(OSError, match="not an empty folder"):
        acme_sftp.rmdir("products/summer")
    acme_sftp.remove("products/summer/lamps.csv")
    acme_sftp.rmdir("products/summer")
    assert acme_sftp.listdir("products") == []


def test_rename_replaces_nothing_and_posix_rename_does(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(b"old"), "products/a.csv")
    acme_sftp.putfo(io.BytesIO(b"new"), "products/b.csv")

    with pytest.raises(OSError, match="exists already"):
        acme_sftp.rename("products/b.csv", "products/a.csv")
    acme_sftp.posix_rename("products/b.csv", "products/a.csv")

    assert acme_sftp.listdir("products") == ["a.csv"]
    assert (acme_area / "products/a.csv").read_bytes() == b"new"


def test_a_file_put_under_another_name_and_renamed_into_place_counts_as_put(acme_sftp, acme_area: AreaPath):
    acme_sftp.putfo(io.BytesIO(CSV), "products/spring.csv.filepart")
    acme_sftp.rename("products/spring.csv.filepart", "products/spring.csv")
    acme_sftp.rename("products/spring.csv", "products/done.csv")

    paths = list(Upload.objects.order_by("id").values_list("path", "sha256"))
    digest = hashlib.sha256(CSV).hexdigest()
    assert paths == [("products/spring.csv.filepart", digest), ("products/spring.csv", digest)]
    assert acme_sftp.listdir("products") == ["done.csv"]
    assert unfinished() == []

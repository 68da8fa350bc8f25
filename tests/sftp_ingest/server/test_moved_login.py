"""A login that is given to another supplier takes no file of the former supplier with it."""

from __future__ import annotations

import io

import paramiko
import pytest
from paramiko.sftp import CMD_CLOSE

from accounts.actors import Actor
from accounts.models import Supplier
from sftp_ingest import services
from sftp_ingest.area import quota
from sftp_ingest.models import OpenUpload, SftpLogin, Upload
from tests.upload_area import area_of

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"sku,title\nA-1\n"
PATH = "products/spring.csv"


def give_to(supplier: Supplier) -> None:
    login = SftpLogin.objects.get(username="acme")
    login.supplier = supplier
    services.update(login, ["supplier"], by=Actor.system("test"))


def test_an_unfinished_upload_is_deleted(leave_cut, server, connect, acme, rival):
    leave_cut(PATH, CSV[:5])

    give_to(rival)

    assert not OpenUpload.objects.exists()
    assert (quota.used(acme.pk), quota.used(rival.pk)) == (0, 0)
    with pytest.raises(FileNotFoundError):
        connect(server, "acme").open_sftp().stat(PATH)


def test_an_open_session_reaches_neither_area(acme_sftp, acme, rival):
    acme_sftp.putfo(io.BytesIO(CSV), PATH)

    give_to(rival)

    for command in (
        lambda: acme_sftp.open(PATH),
        lambda: acme_sftp.listdir("products"),
        lambda: acme_sftp.remove(PATH),
        lambda: acme_sftp.putfo(io.BytesIO(CSV), "products/new.csv"),
    ):
        with pytest.raises(PermissionError, match="another supplier"):
            command()
    assert (area_of(acme) / PATH).read_bytes() == CSV
    assert not (area_of(rival) / "products/new.csv").exists()


def test_a_file_that_was_open_is_in_no_area_and_cannot_be_resumed(
    acme_sftp: paramiko.SFTPClient, server, connect, acme, rival
):
    file = acme_sftp.open(PATH, "w")
    give_to(rival)
    file.write(CSV)
    with pytest.raises(PermissionError, match="another supplier"):
        acme_sftp._request(CMD_CLOSE, file.handle)
    file._closed = True

    assert not Upload.objects.exists()
    with pytest.raises(FileNotFoundError):
        connect(server, "acme").open_sftp().stat(PATH)
    assert quota.used(rival.pk) == 0

    services.delete(SftpLogin.objects.get(), by=Actor.system("test"))
    assert quota.used(acme.pk) == 0


def test_an_upload_in_progress_is_not_seen_by_the_other_supplier(acme_sftp, server, connect, rival):
    file = acme_sftp.open(PATH, "w")
    file.write(CSV)
    file.stat()  # returns after the bytes have arrived
    give_to(rival)

    with pytest.raises(FileNotFoundError):
        connect(server, "acme").open_sftp().stat(PATH)

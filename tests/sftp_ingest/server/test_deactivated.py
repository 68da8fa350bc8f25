"""A login that was deactivated: its open sessions change and read nothing more."""

from __future__ import annotations

import io
from unittest.mock import Mock

import pytest
from paramiko.sftp import CMD_CLOSE

from imports.models import ImportJob
from imports.sweeping import take_uploads
from sftp_ingest.area import made_files
from sftp_ingest.area.made_files import MadeFile, MadeFolder
from sftp_ingest.models import SftpLogin, Upload

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"fulfillment_id,action\n1,ship\n"
COMMANDS = {
    "put": lambda sftp: sftp.putfo(io.BytesIO(CSV), "tracking/new.csv"),
    "get": lambda sftp: sftp.open("products/old.csv"),
    "rename": lambda sftp: sftp.rename("products/old.csv", "tracking/a.csv"),
    "posix-rename": lambda sftp: sftp.posix_rename("products/old.csv", "tracking/a.csv"),
    "remove": lambda sftp: sftp.remove("products/old.csv"),
    "mkdir": lambda sftp: sftp.mkdir("products/new"),
    "rmdir": lambda sftp: sftp.rmdir("products/empty"),
    "truncate": lambda sftp: sftp.truncate("products/old.csv", 0),
    "times": lambda sftp: sftp.utime("products/old.csv", (1, 1)),
    "list": lambda sftp: sftp.listdir("products"),
    "stat": lambda sftp: sftp.stat("products/old.csv"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_each_command_is_refused_with_the_reason(acme_sftp, acme_area, command):
    acme_sftp.putfo(io.BytesIO(CSV), "products/old.csv")
    acme_sftp.mkdir("products/empty")
    SftpLogin.objects.update(is_active=False)

    with pytest.raises(PermissionError, match="deactivated"):
        command(acme_sftp)

    assert (acme_area / "products/old.csv").read_bytes() == CSV
    take_uploads()
    assert not ImportJob.objects.exists()


def test_an_upload_in_progress_does_not_become_a_file(acme_sftp, acme_area):
    file = acme_sftp.open("products/new.csv", "w")
    file.write(CSV)
    SftpLogin.objects.update(is_active=False)

    with pytest.raises(PermissionError, match="deactivated"):
        acme_sftp._request(CMD_CLOSE, file.handle)

    assert not Upload.objects.exists()
    assert not (acme_area / "products/new.csv").exists()


def test_a_generated_file_that_is_open_captures_nothing(acme_sftp, monkeypatch):
    captures = Mock()

    class Orders(MadeFolder):
        def files(self, supplier_id):
            return {"new.csv": lambda: MadeFile(CSV, on_read=captures)}

    monkeypatch.setitem(made_files._folders, "orders", Orders())
    file = acme_sftp.open("orders/new.csv")
    SftpLogin.objects.update(is_active=False)

    with pytest.raises(PermissionError, match="deactivated"):
        file.read()

    captures.assert_not_called()

"""psftp, the SFTP client of PuTTY."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

import pytest

from sftp_ingest.models import Upload
from sftp_ingest.server.host_key import public_line
from tests.sftp_ingest.clients.conftest import Programs
from tests.sftp_ingest.conftest import PASSWORD
from tests.upload_area import AreaPath

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.program]


@pytest.fixture
def psftp(programs: Programs) -> Callable[..., str]:
    digest = hashlib.sha256(base64.b64decode(public_line().split()[1])).digest()
    key = f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"

    def run(*commands: str) -> str:
        script = programs.home / "script"
        script.write_text("\n".join((*commands, "quit")))
        words = ("-P", str(programs.port), "-pw", PASSWORD, "-hostkey", key, "-batch", "-b", script)
        return programs.well("psftp", *words, "acme@127.0.0.1")

    return run


def test_files_are_put_over_each_other_listed_moved_got_and_removed(psftp, programs, acme_area: AreaPath):
    psftp("put -r spring products/spring", "put x.csv products/x.csv", "put x.csv products/x.csv")
    said = psftp("ls products", "mv products/x.csv products/z.csv", "get products/z.csv back.csv")

    assert "x.csv" in said
    assert (programs.folder / "back.csv").read_text() == "sku\nX\n"
    psftp("rm products/z.csv")
    assert not (acme_area / "products/z.csv").exists()
    assert Upload.objects.count() == 3


@pytest.mark.parametrize("came", [1, 33_333, 100_003, 100_004])
def test_a_cut_upload_continues(psftp, programs, leave_cut, acme_area: AreaPath, came: int):
    (programs.folder / "long.csv").write_bytes(b"sku\n" + b"X\n" * 50_000)
    leave_cut("products/long.csv", (programs.folder / "long.csv").read_bytes()[:came])
    psftp("reput long.csv products/long.csv")

    assert (acme_area / "products/long.csv").read_bytes() == (programs.folder / "long.csv").read_bytes()
    assert Upload.objects.get().size == 100_004

"""curl, which uses libssh2, uploads, lists, downloads and resumes files."""

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
def curl(programs: Programs) -> Callable[..., str]:
    if "sftp" not in programs.run("curl", "--version").stdout:
        pytest.skip("this curl speaks no SFTP")
    digest = hashlib.sha256(base64.b64decode(public_line().split()[1])).digest()

    def run(path: str, *words: str) -> str:
        key = base64.b64encode(digest).decode()
        login = ("-sS", "-u", f"acme:{PASSWORD}", "--hostpubsha256", key)
        return programs.well("curl", *login, *words, f"sftp://127.0.0.1:{programs.port}/{path}")

    return run


def test_files_are_put_over_each_other_listed_and_got(curl, acme_area: AreaPath):
    curl("products/new/x.csv", "-T", "x.csv", "--ftp-create-dirs")
    curl("products/new/x.csv", "-T", "x.csv")

    assert curl("products/new/", "-l").split()[-1] == "x.csv"
    assert curl("products/new/x.csv") == "sku\nX\n"
    assert Upload.objects.count() == 2


def test_a_cut_upload_continues(curl, programs, leave_cut, acme_area: AreaPath):
    (programs.folder / "long.csv").write_bytes(b"sku\n" + b"X\n" * 50_000)
    leave_cut("products/long.csv", (programs.folder / "long.csv").read_bytes()[:33_333])
    curl("products/long.csv", "-T", "long.csv", "-C", "-")

    assert (acme_area / "products/long.csv").read_bytes() == (programs.folder / "long.csv").read_bytes()

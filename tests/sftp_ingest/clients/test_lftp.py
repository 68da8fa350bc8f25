"""lftp mirrors folders and resumes cut uploads."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from sftp_ingest.models import Upload
from tests.sftp_ingest.clients.conftest import Programs
from tests.upload_area import AreaPath

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.program]


@pytest.fixture
def lftp(programs: Programs) -> Callable[..., str]:
    def run(*commands: str) -> str:
        connect = shlex.join(["ssh", "-a", "-x", *programs.ssh_options])
        settings = (f'set sftp:connect-program "{connect}"', "set net:max-retries 1", "set cmd:fail-exit yes")
        opened = f"open sftp://acme:@127.0.0.1:{programs.port}"
        return programs.well("lftp", "-c", "; ".join((*settings, opened, *commands)))

    return run


def test_a_folder_is_mirrored_and_mirrored_again_only_where_it_changed(lftp, programs, acme_area: AreaPath):
    lftp("mirror -R spring products/spring")
    lftp("mirror -R spring products/spring")
    assert [upload.path for upload in Upload.objects.all()] == ["products/spring/deep/y.csv"]

    (programs.folder / "spring/deep/z.csv").write_text("sku\nZ\n")
    lftp("mirror -R spring products/spring", "mirror products/spring back")
    assert Upload.objects.count() == 2
    assert (programs.folder / "back/deep/z.csv").read_text() == "sku\nZ\n"


def test_a_cut_upload_continues(lftp, programs, leave_cut, acme_area: AreaPath):
    (programs.folder / "long.csv").write_bytes(b"sku\n" + b"X\n" * 50_000)
    leave_cut("products/long.csv", (programs.folder / "long.csv").read_bytes()[:33_333])
    lftp("put -c long.csv -o products/long.csv")

    assert (acme_area / "products/long.csv").read_bytes() == (programs.folder / "long.csv").read_bytes()
    assert Upload.objects.get().size == 100_004


def test_a_refusal_is_shown(programs, lftp):
    with pytest.raises(AssertionError, match="read-only"):
        lftp("put x.csv -o templates/x.csv")

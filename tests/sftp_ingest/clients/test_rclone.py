"""rclone copies files whose size or time differs, so the server must keep the times of files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sftp_ingest.models import Upload
from tests.sftp_ingest.clients.conftest import Programs
from tests.upload_area import AreaPath

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.program]


@pytest.fixture
def rclone(programs: Programs) -> Callable[..., str]:
    def run(command: str, *words: str) -> str:
        return programs.well(
            "rclone",
            command,
            *words,
            "--retries=1",
            "--sftp-host=127.0.0.1",
            f"--sftp-port={programs.port}",
            "--sftp-user=acme",
            f"--sftp-key-file={programs.home}/key",
            f"--sftp-known-hosts-file={programs.home}/known",
        )

    return run


def test_an_existing_file_is_not_copied_again(rclone, acme_area: AreaPath):
    rclone("copy", "spring", ":sftp:products/spring")
    assert (acme_area / "products/spring/deep/y.csv").stat().st_mtime == 1_600_000_000
    rclone("copy", "spring", ":sftp:products/spring")

    assert Upload.objects.count() == 1


def test_changed_files_are_copied_and_deleted_files_removed(rclone, programs, acme_area: AreaPath):
    rclone("sync", ".", ":sftp:products")
    (programs.folder / "x.csv").unlink()
    (programs.folder / "spring/deep/y.csv").write_text("sku\nY\nZ\n")
    rclone("sync", ".", ":sftp:products")

    found = {path.name: path.read_text() for path in (acme_area / "products").files()}
    assert found == {"y.csv": "sku\nY\nZ\n"}


def test_equal_files_are_recognized(rclone, programs):
    rclone("copy", ".", ":sftp:products")

    assert "0 differences found" in rclone("check", ".", ":sftp:products")
    assert "x.csv" in rclone("lsl", ":sftp:products")
    assert '"free"' in rclone("about", ":sftp:", "--json")

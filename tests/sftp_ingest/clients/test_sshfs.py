"""An area mounted as a folder by sshfs. Programs without SFTP open, truncate, rename and close its files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sftp_ingest.models import Upload
from sftp_ingest.server.listener import SftpServer
from tests.upload_area import AreaPath

pytestmark = [
    pytest.mark.program,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="there is no /dev/fuse to mount with"),
]


@dataclass
class Mount:
    """A mounted area. Written files are complete only after `leave`, because sshfs closes them later."""

    root: Path
    server: SftpServer

    def __truediv__(self, path: str) -> Path:
        return self.root / path

    def leave(self) -> None:
        subprocess.run(["fusermount3", "-u", self.root], check=False)
        for session in self.server.sessions:
            for handler in session.handlers:
                handler.join(60)


@pytest.fixture
def mounted(programs, server: SftpServer, tmp_path: Path) -> Iterator[Mount]:
    folder = tmp_path / "mounted"
    folder.mkdir()
    options = [word for word in programs.ssh_options if word not in ("-F", "/dev/null")]
    done = programs.run("sshfs", "acme@127.0.0.1:/", folder, "-p", str(programs.port), *options)
    if done.returncode:
        pytest.skip(f"sshfs cannot mount here: {done.stderr}")
    yield Mount(folder, server)
    subprocess.run(["fusermount3", "-u", "-z", folder], check=False, capture_output=True)


def test_new_files_are_written_read_and_listed(mounted: Mount, acme_area: AreaPath):
    (mounted / "products/new.csv").write_text("sku\nX\n")

    assert (mounted / "products/new.csv").read_text() == "sku\nX\n"
    mounted.leave()
    assert [upload.path for upload in Upload.objects.all()] == ["products/new.csv"]
    assert (acme_area / "products/new.csv").read_text() == "sku\nX\n"


@pytest.mark.parametrize("content", ["sku\n", "sku\nX\nY\nZ\n"])
def test_files_are_written_over(mounted: Mount, programs, acme_area: AreaPath, content: str):
    shutil.copyfile(programs.folder / "x.csv", mounted / "products/x.csv")
    (mounted / "products/x.csv").write_text(content)
    mounted.leave()

    assert (acme_area / "products/x.csv").read_text() == content


def test_a_copy_keeps_its_time(mounted: Mount, programs, acme_area: AreaPath):
    shutil.copy2(programs.folder / "x.csv", mounted / "products/x.csv")

    assert (mounted / "products/x.csv").stat().st_mtime == 1_600_000_000
    mounted.leave()
    assert (acme_area / "products/x.csv").stat().st_mtime == 1_600_000_000


def test_a_file_written_under_another_name_and_renamed_is_whole(mounted: Mount, acme_area: AreaPath):
    for number in range(10):
        (mounted / "products/half").write_text(f"sku\n{number}\n")
        (mounted / "products/half").rename(mounted / "products/x.csv")
        assert (mounted / "products/x.csv").read_text() == f"sku\n{number}\n"
    mounted.leave()

    assert [(path.name, path.read_text()) for path in (acme_area / "products").iterdir()] == [
        ("x.csv", "sku\n9\n")
    ]


def test_the_quota_is_shown_as_a_disk(mounted: Mount):
    (mounted / "products/new.csv").write_text("x" * 100_000)
    disk = os.statvfs(mounted.root)

    assert disk.f_blocks * disk.f_frsize == 5 * 1024**3
    assert 100_000 <= (disk.f_blocks - disk.f_bavail) * disk.f_frsize < 200_000

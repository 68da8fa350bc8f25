"""Programs that suppliers use, signed in as Acme, in a folder of files."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from accounts.models import Supplier
from sftp_ingest.server.host_key import public_line
from sftp_ingest.server.listener import SftpServer
from tests.factories import SftpLoginFactory
from tests.sftp_ingest.conftest import PASSWORD


@dataclass
class Programs:
    """Client programs in the folder `client`, with a key and a known host for the login."""

    port: int
    home: Path

    @property
    def folder(self) -> Path:
        return self.home / "client"

    @property
    def ssh_options(self) -> list[str]:
        options = {
            "UserKnownHostsFile": self.home / "known",
            "GlobalKnownHostsFile": "/dev/null",
            "IdentityFile": self.home / "key",
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "BatchMode": "yes",
        }
        return [
            "-F",
            "/dev/null",
            *(word for name, value in options.items() for word in ("-o", f"{name}={value}")),
        ]

    def run(self, *words: str | Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
        if not shutil.which(str(words[0])):
            pytest.skip(f"{words[0]} is not installed")
        return subprocess.run(
            [str(word) for word in words],
            input=given,
            cwd=self.folder,
            env={**os.environ, "HOME": str(self.home), "RCLONE_CONFIG": str(self.home / "rclone.conf")},
            text=True,
            capture_output=True,
            timeout=120,
            check=False,
        )

    def well(self, *words: str | Path, given: str | None = None) -> str:
        """Run a program that must succeed, and return its output."""
        done = self.run(*words, given=given)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def programs(server: SftpServer, acme: Supplier, tmp_path: Path) -> Programs:
    """Return the programs, in a folder with x.csv and spring/deep/y.csv, both from 2020."""
    if not shutil.which("ssh-keygen"):
        pytest.skip("the OpenSSH client is not installed")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    SftpLoginFactory.create(supplier=acme, password=PASSWORD, public_keys=(tmp_path / "key.pub").read_text())
    (tmp_path / "known").write_text(f"[127.0.0.1]:{server.port} {public_line()}\n")
    folder = tmp_path / "client"
    (folder / "spring/deep").mkdir(parents=True)
    for name, text in (("x.csv", "sku\nX\n"), ("spring/deep/y.csv", "sku\nY\n")):
        (folder / name).write_text(text)
        os.utime(folder / name, (1_600_000_000, 1_600_000_000))
    return Programs(server.port, tmp_path)

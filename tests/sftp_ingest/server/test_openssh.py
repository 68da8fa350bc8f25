"""The OpenSSH programs sftp and scp, as suppliers use them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import OperationalError

from accounts.models import Supplier
from sftp_ingest.models import Upload
from sftp_ingest.server.host_key import public_line
from sftp_ingest.server.listener import SftpServer
from tests.factories import SftpLoginFactory
from tests.upload_area import AreaPath

pytestmark = [
    pytest.mark.program,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not shutil.which("sftp"), reason="the OpenSSH client is not installed"),
]


@pytest.fixture
def sftp(
    server: SftpServer, acme: Supplier, tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs commands as Acme, in a folder with x.csv and spring/deep/y.csv.

    A `-` before a command ignores its failure.
    """
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    SftpLoginFactory.create(supplier=acme, public_keys=(tmp_path / "key.pub").read_text())
    (tmp_path / "known").write_text(f"[127.0.0.1]:{server.port} {public_line()}\n")
    folder = tmp_path / "client"
    (folder / "spring/deep").mkdir(parents=True)
    (folder / "x.csv").write_text("sku\nX\n")
    (folder / "longer.csv").write_text("sku\nX\nY\n")
    (folder / "spring/deep/y.csv").write_text("sku\nY\n")

    def run(*commands: str) -> subprocess.CompletedProcess[str]:
        options = {
            "UserKnownHostsFile": tmp_path / "known",
            "GlobalKnownHostsFile": "/dev/null",
            "IdentityFile": tmp_path / "key",
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
        }
        flags = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return subprocess.run(
            ["sftp", "-F", "/dev/null", *flags, "-P", str(server.port), "-b", "-", "acme@127.0.0.1"],
            input="\n".join(commands),
            cwd=folder,
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
        )

    return run


def test_a_file_and_a_folder_are_uploaded_and_downloaded(sftp, tmp_path: Path):
    done = sftp("put x.csv products/", "put -r spring products/", "get -r products back")

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "client/back/x.csv").read_text() == "sku\nX\n"
    assert (tmp_path / "client/back/spring/deep/y.csv").read_text() == "sku\nY\n"
    assert sorted(Upload.objects.values_list("path", flat=True)) == [
        "products/spring/deep/y.csv",
        "products/x.csv",
    ]


def test_a_login_that_cannot_be_checked_is_not_reported_as_wrong(sftp, monkeypatch):
    def gone(*_: object) -> None:
        raise OperationalError("the database is being restarted")

    monkeypatch.setattr("sftp_ingest.server.authentication.by_key", gone)
    assert "cannot check logins at the moment" in sftp("ls").stderr


def test_a_folder_is_put_again_over_itself_with_its_times(sftp):
    done = sftp("put -pr spring products/", "put -pr spring products/", "put -f x.csv", "ls -l products")

    assert done.returncode == 0, done.stderr
    assert Upload.objects.count() == 3


def test_files_are_listed_made_renamed_and_removed(sftp, acme_area: AreaPath):
    done = sftp(
        "put x.csv",
        "mkdir products/new",
        "rename x.csv products/new/y.csv",
        "ls -l products/new",
        "cd products/new",
        "rm y.csv",
        "cd ../..",
        "rmdir products/new",
        "pwd",
        "ls -1",
    )

    assert done.returncode == 0, done.stderr
    assert "y.csv" in done.stdout
    assert done.stdout.splitlines()[-5:] == ["inventory", "orders", "products", "templates", "tracking"]


@pytest.fixture
def scp(sftp, server: SftpServer, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    options = f"-F /dev/null -o UserKnownHostsFile={tmp_path}/known -i {tmp_path}/key -P {server.port}"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["scp", "-s", *options.split(), *arguments],
            cwd=tmp_path / "client",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_scp_works_too(scp):
    done = scp("-r", "x.csv", "spring", "acme@127.0.0.1:products/")

    assert done.returncode == 0, done.stderr
    assert Upload.objects.count() == 2


@pytest.mark.parametrize("content", ["sku\nX\nY\nZ\n", "sku\n", "sku\nZ\n", "", "x" * 300_000])
def test_scp_overwrites_a_file_with_a_longer_a_shorter_and_an_empty_one(
    scp, acme_area: AreaPath, tmp_path: Path, content: str
):
    """scp opens a file without truncating it, writes all bytes, and sets the size of the file."""
    scp("x.csv", "acme@127.0.0.1:products/")
    (tmp_path / "client/x.csv").write_text(content)
    done = scp("-p", "x.csv", "acme@127.0.0.1:products/")

    assert done.returncode == 0, done.stderr
    assert (acme_area / "products/x.csv").read_text() == content
    assert Upload.objects.latest("id").sha256 == hashlib.sha256(content.encode()).hexdigest()


def test_names_that_begin_with_a_dash_are_names_like_any_other(sftp, acme_area: AreaPath):
    done = sftp(
        "put x.csv products/-x.csv", "rename products/-x.csv products/-y.csv", "ls -1 products/-y.csv"
    )

    assert done.returncode == 0, done.stderr
    assert Upload.objects.get().path == "products/-x.csv"
    assert (acme_area / "products").names() == ["-y.csv"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("get ../../etc/passwd", "not found"),
        ("ln -s /etc/passwd link", "Permission denied"),
        ("put x.csv templates/", "Permission denied"),
        ("put x.csv none/x.csv", "No such file"),
        ("rm products", "Permission denied"),
        ("rmdir products", "Permission denied"),
        ("reput longer.csv products/x.csv", "Failure"),
    ],
)
def test_a_forbidden_command_is_an_error(sftp, acme_area: AreaPath, command: str, said: str):
    sftp("put x.csv products/x.csv")
    before = acme_area.files()
    done = sftp(command)

    assert done.returncode == 1
    assert said in done.stderr
    assert acme_area.files() == before

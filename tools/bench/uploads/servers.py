"""The compared servers, and an upload to a server by OpenSSH's client."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from accounts.models import Supplier
from sftp_ingest.models import GIB, SftpLogin
from tools.bench.database import database_url
from tools.bench.soak.hosts import listens
from tools.bench.soak.processes import wait_until
from tools.launcher.embedded.ports import free_port
from tools.launcher.processes.account import unprivileged_account

QUOTA = 50 * GIB


@dataclass(frozen=True)
class UploadTarget:
    """A server, with the login and the folder of the uploads."""

    name: str
    port: int
    user: str
    folder: str
    process: subprocess.Popen[Any]


def add_login(home: Path, name: str) -> None:
    """Create a supplier with this name, and a login with the bench's key."""
    key = (home / "key.pub").read_text()
    supplier = Supplier.objects.create(name=name)
    SftpLogin.objects.create(supplier=supplier, username=name, public_keys=key, quota_bytes=QUOTA)


@contextmanager
def ours(home: Path) -> Iterator[UploadTarget]:
    """Run `manage.py sftp_server` on the bench's database."""
    port = free_port()
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "DATA_DIR": str(home / "data"),
        "SFTP_PORT": str(port),
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "sftp_server"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield UploadTarget("ours", port, "acme", "products", process)
        finally:
            process.terminate()


@contextmanager
def theirs(home: Path) -> Iterator[UploadTarget | None]:
    """Run OpenSSH's server with a configuration of its own. Yield None if OpenSSH is missing."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        print("  OpenSSH's server is not installed: the comparison is left out.", flush=True)
        yield None
        return
    account, port, folder = unprivileged_account(), free_port(), home / "theirs"
    folder.mkdir()
    shutil.copy(home / "key.pub", folder / "authorized_keys")
    shutil.copy(home / "host_key", folder / "host_key")
    (folder / "host_key").chmod(0o600)
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nPidFile none\nStrictModes no\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nUsePAM no\nSubsystem sftp internal-sftp\n"
        "ForceCommand internal-sftp\nLogLevel ERROR\n"
    )
    if account:
        account.take_ownership(folder)
    user = pwd.getpwuid(account.uid if account else os.getuid()).pw_name
    run: dict[str, Any] = {"cwd": folder, **(account.popen_options() if account else {})}
    with subprocess.Popen([program, "-D", "-e", "-f", str(folder / "config")], **run) as process:
        try:
            wait_until(lambda: listens(port), "sshd listens")
            yield UploadTarget("internal-sftp", port, user, str(folder), process)
        finally:
            process.terminate()


def put(home: Path, target: UploadTarget) -> float:
    """Upload the file and return the seconds, including the login."""
    options = ["UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no", "LogLevel=ERROR", "BatchMode=yes"]
    options += [f"IdentityFile={home}/key", "IdentitiesOnly=yes", "IdentityAgent=none", "Compression=no"]
    command = ["sftp", "-q", "-F", "/dev/null", "-P", str(target.port), "-b", "-"]
    command += [word for option in options for word in ("-o", option)] + [f"{target.user}@127.0.0.1"]
    line = f"put {home}/file {target.folder}/file.bin\n"
    began = time.perf_counter()
    done = subprocess.run(command, input=line, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"sftp to {target.name}: {done.stderr}")
    return time.perf_counter() - began

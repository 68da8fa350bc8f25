"""The compared servers, and an upload to a server by OpenSSH's client."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from accounts.models import Supplier
from sftp_ingest.models import GIB, SftpLogin
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
    """Create a supplier of this name with a login by the bench's key."""
    key = (home / "key.pub").read_text()
    supplier = Supplier.objects.create(name=name)
    SftpLogin.objects.create(supplier=supplier, username=name, public_keys=key, quota_bytes=QUOTA)


@contextmanager
def ours(home: Path) -> Iterator[UploadTarget]:
    """Run `manage.py sftp_server` on the bench's database."""
    database, port = connection.settings_dict, free_port()
    user, password = quote(database["USER"]), quote(database["PASSWORD"], safe="")
    host = f"{database['HOST']}:{database['PORT']}"
    environment = {
        **os.environ,
        "DATABASE_URL": f"postgresql://{user}:{password}@{host}/{database['NAME']}",
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
            _wait_for(port)
            yield UploadTarget("internal-sftp", port, user, str(folder), process)
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)  # sshd does not announce that it listens, so poll
        else:
            return


def put(home: Path, target: UploadTarget, file: str, name: str) -> float:
    """Upload a file and return the seconds, including the login."""
    options = ["UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no", "LogLevel=ERROR", "BatchMode=yes"]
    options += [f"IdentityFile={home}/key", "IdentitiesOnly=yes", "IdentityAgent=none", "Compression=no"]
    command = ["sftp", "-q", "-F", "/dev/null", "-P", str(target.port), "-b", "-"]
    command += [word for option in options for word in ("-o", option)] + [f"{target.user}@127.0.0.1"]
    began = time.perf_counter()
    done = subprocess.run(
        command, input=f"put {home}/{file} {target.folder}/{name}\n", text=True, capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"sftp to {target.name}: {done.stderr}")
    return time.perf_counter() - began


def cpu_seconds(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

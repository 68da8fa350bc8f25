"""An upload by OpenSSH's client to our server, beside the same to OpenSSH's `internal-sftp`, in one run.

Then twenty at once: how long the slowest takes beside the fastest, and how much memory the server needs.
Last, how much CPU a server uses that nobody talks to.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from accounts.models import Supplier
from bench.database import own_database
from bench.measuring import at_least, bare, peak_mib, ratio
from bench.options import read_options
from launcher.embedded.ports import free_port
from launcher.processes.account import unprivileged_account
from sftp_ingest.models import SftpLogin

LARGE = 265_000_000
AT_ONCE, SMALLER = 20, 20_000_000
IDLE_SECONDS = 10.0


@dataclass(frozen=True)
class Target:
    """A server, and where on it files are put."""

    name: str
    port: int
    user: str
    folder: str
    process: subprocess.Popen[Any]


def main(arguments: list[str]) -> None:
    options = read_options("sftp", arguments, rounds=5)
    with own_database(), tempfile.TemporaryDirectory(prefix="bench-sftp-") as name:
        home = Path(name)
        home.chmod(0o755)
        _make_files(home)
        with ours(home) as exchange:
            with theirs(home) as openssh:
                if openssh:
                    compare(home, exchange, openssh, options.rounds)
            at_once(home, exchange)
            idle(exchange)


def _make_files(home: Path) -> None:
    with (home / "large").open("wb") as file:
        file.writelines(os.urandom(LARGE // 100) for _ in range(100))
    with (home / "small").open("wb") as file:
        file.write(os.urandom(SMALLER))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "key"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "host_key"], check=True)


@contextmanager
def ours(home: Path) -> Iterator[Target]:
    """`manage.py sftp_server` over the bench's database."""
    key = (home / "key.pub").read_text()
    SftpLogin.objects.create(supplier=Supplier.objects.create(name="Acme"), username="acme", public_keys=key)
    found, port = connection.settings_dict, free_port()
    user, password = quote(found["USER"]), quote(found["PASSWORD"], safe="")
    environment = {
        **os.environ,
        "DATABASE_URL": f"postgresql://{user}:{password}@{found['HOST']}:{found['PORT']}/{found['NAME']}",
        "DATA_DIR": str(home / "data"),
        "SFTP_PORT": str(port),
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "sftp_server"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield Target("ours", port, "acme", "products", process)
        finally:
            process.terminate()


@contextmanager
def theirs(home: Path) -> Iterator[Target | None]:
    """OpenSSH's server with a configuration of its own; None when it is not installed."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        print("  OpenSSH's server is not installed: nothing to compare with.", flush=True)
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
            yield Target("internal-sftp", port, user, str(folder), process)
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


def put(home: Path, target: Target, file: str, name: str) -> float:
    """Seconds that a put takes, the login with it."""
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


def compare(home: Path, exchange: Target, openssh: Target, rounds: int) -> None:
    """By turns, so that what else the machine does falls on both."""
    seconds: dict[str, list[float]] = {exchange.name: [], openssh.name: []}
    for target in (exchange, openssh):
        put(home, target, "small", "warm.bin")
    before = _cpu(exchange.process.pid)
    for number in range(rounds):
        for target in (exchange, openssh) if number % 2 else (openssh, exchange):
            seconds[target.name].append(put(home, target, "large", "large.bin"))
    cpu = (_cpu(exchange.process.pid) - before) / rounds
    for target in (exchange, openssh):
        shown = ", ".join(f"{each:.2f}" for each in sorted(seconds[target.name]))
        print(f"  {f'{LARGE // 10**6} MB to {target.name}: {shown} s':<66}", flush=True)
    mine, other = median(seconds[exchange.name]), median(seconds[openssh.name])
    at_least("speed beside internal-sftp, medians", other / mine, 0.5)
    bare("CPU seconds of our server for each", cpu, 1.0)


def at_once(home: Path, exchange: Target) -> None:
    """Many from one address and login."""
    before = peak_mib(exchange.process.pid)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        names = [f"once-{number}.bin" for number in range(AT_ONCE)]
        began = time.perf_counter()
        seconds = list(pool.map(lambda name: put(home, exchange, "small", name), names))
        whole = time.perf_counter() - began
    print(f"  {f'{AT_ONCE} of {SMALLER // 10**6} MB at once: {whole:.2f} s in all':<66}", flush=True)
    ratio("slowest beside fastest", max(seconds), min(seconds), 1.5)
    ratio("peak memory of the server, beside that of one upload", peak_mib(exchange.process.pid), before, 2.0)


def idle(exchange: Target) -> None:
    before = _cpu(exchange.process.pid)
    time.sleep(IDLE_SECONDS)
    ratio("CPU of an idle server, of a core", _cpu(exchange.process.pid) - before, IDLE_SECONDS, 0.01)


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

"""Uploads by OpenSSH's client to our server, beside the same uploads to OpenSSH's `internal-sftp`.

The run also measures the CPU of an idle server, and an upload beside five hundred idle logins.
"""

from __future__ import annotations

import logging
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from tools.bench.database import own_database
from tools.bench.measuring import at_least, bare, ratio
from tools.bench.options import read_options
from tools.bench.sizes import size
from tools.bench.uploads.idle_logins import beside_idle_logins
from tools.bench.uploads.servers import UploadTarget, add_login, cpu_seconds, ours, put, theirs

SIZES = {
    name: size(length, smoke=length // 100)
    for name, length in {
        "large": 265_000_000,
        "larger": 200_000_000,
        "small": 20_000_000,
    }.items()
}
IDLE_SECONDS = size(10.0, smoke=0.5)


def main(arguments: list[str]) -> None:
    options = read_options("sftp", arguments, rounds=size(5, smoke=1))
    logging.getLogger("paramiko").setLevel(logging.WARNING)
    with own_database(), tempfile.TemporaryDirectory(prefix="bench-sftp-") as name:
        home = Path(name)
        home.chmod(0o755)
        _make_files(home)
        add_login(home, "acme")
        with ours(home) as exchange:  # a new server: no upload has raised its memory
            idle(exchange)
            beside_idle_logins(home, exchange)
        with ours(home) as exchange:
            put(home, exchange, "larger", "warm.bin")
            with theirs(home) as openssh:
                if openssh:
                    compare(home, exchange, openssh, options.rounds)


def _make_files(home: Path) -> None:
    for name, length in SIZES.items():
        with (home / name).open("wb") as file:
            file.writelines(os.urandom(length // 100) for _ in range(100))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "key"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "host_key"], check=True)


def compare(home: Path, exchange: UploadTarget, openssh: UploadTarget, rounds: int) -> None:
    """Upload to both in turn, so that other load of the machine affects both."""
    megabytes = SIZES["large"] // 10**6
    seconds: dict[str, list[float]] = {exchange.name: [], openssh.name: []}
    for target in (exchange, openssh):
        put(home, target, "small", "warm.bin")
    before = cpu_seconds(exchange.process.pid)
    for number in range(rounds):
        for target in (exchange, openssh) if number % 2 else (openssh, exchange):
            seconds[target.name].append(put(home, target, "large", "large.bin"))
    cpu = (cpu_seconds(exchange.process.pid) - before) / rounds
    for target in (exchange, openssh):
        shown = ", ".join(f"{took:.2f}" for took in sorted(seconds[target.name]))
        print(f"  {f'{megabytes} MB to {target.name}: {shown} s':<66}", flush=True)
    our, their = median(seconds[exchange.name]), median(seconds[openssh.name])
    at_least("speed beside internal-sftp, medians", their / our, 0.5)
    bare("CPU seconds of our server per upload", cpu, 1.0)


def idle(exchange: UploadTarget) -> None:
    before = cpu_seconds(exchange.process.pid)
    time.sleep(IDLE_SECONDS)  # the measure is the cost of a server without clients
    ratio("CPU of an idle server, of a core", cpu_seconds(exchange.process.pid) - before, IDLE_SECONDS, 0.01)

"""An upload by OpenSSH's client to our server, beside the same to OpenSSH's `internal-sftp`, in one run.

Before it, how much CPU a server uses that nobody talks to, and an upload beside five hundred logins that do
nothing. After it, twenty at once: whether they are fair, and how much memory the server needs.
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
from tools.bench.measuring import at_least, bare, peak_mib, ratio
from tools.bench.options import read_options
from tools.bench.uploads.crowd import at_once
from tools.bench.uploads.idle_logins import beside_idle_logins
from tools.bench.uploads.servers import Target, add_login, cpu_seconds, ours, put, theirs

SIZES = {"large": 265_000_000, "larger": 200_000_000, "small": 20_000_000, "tiny": 1_000_000}
IDLE_SECONDS = 10.0


def main(arguments: list[str]) -> None:
    options = read_options("sftp", arguments, rounds=5)
    logging.getLogger("paramiko").setLevel(logging.WARNING)
    with own_database(), tempfile.TemporaryDirectory(prefix="bench-sftp-") as name:
        home = Path(name)
        home.chmod(0o755)
        _make_files(home)
        add_login(home, "acme")
        with ours(home) as exchange:  # a server of its own, whose memory no upload has stretched
            idle(exchange)
            beside_idle_logins(home, exchange)
        with ours(home) as exchange:
            put(home, exchange, "larger", "warm.bin")
            alone_mib = peak_mib(exchange.process.pid)
            with theirs(home) as openssh:
                if openssh:
                    compare(home, exchange, openssh, options.rounds)
            at_once(home, exchange, alone_mib)


def _make_files(home: Path) -> None:
    for name, size in SIZES.items():
        with (home / name).open("wb") as file:
            file.writelines(os.urandom(size // 100) for _ in range(100))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "key"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "host_key"], check=True)


def compare(home: Path, exchange: Target, openssh: Target, rounds: int) -> None:
    """By turns, so that what else the machine does falls on both."""
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
        shown = ", ".join(f"{each:.2f}" for each in sorted(seconds[target.name]))
        print(f"  {f'{megabytes} MB to {target.name}: {shown} s':<66}", flush=True)
    mine, other = median(seconds[exchange.name]), median(seconds[openssh.name])
    at_least("speed beside internal-sftp, medians", other / mine, 0.5)
    bare("CPU seconds of our server for each", cpu, 1.0)


def idle(exchange: Target) -> None:
    before = cpu_seconds(exchange.process.pid)
    time.sleep(IDLE_SECONDS)  # what is measured is what it costs that nobody talks to it
    ratio("CPU of an idle server, of a core", cpu_seconds(exchange.process.pid) - before, IDLE_SECONDS, 0.01)

"""Uploads by OpenSSH's client to our server, beside the same uploads to OpenSSH's `internal-sftp`.

The run also measures an upload beside five hundred idle logins.
"""

from __future__ import annotations

import logging
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from tools.bench.database import own_database
from tools.bench.measuring import at_least, cpu_seconds, show
from tools.bench.options import read_options
from tools.bench.sizes import size
from tools.bench.uploads.idle_logins import beside_idle_logins
from tools.bench.uploads.servers import UploadTarget, add_login, ours, put, theirs

MEGABYTES = size(265, smoke=2)


def main(arguments: list[str]) -> None:
    options = read_options("sftp", arguments, rounds=size(5, smoke=1))
    logging.getLogger("paramiko").setLevel(logging.WARNING)
    with own_database(), tempfile.TemporaryDirectory(prefix="bench-sftp-") as name:
        home = Path(name)
        home.chmod(0o755)
        with (home / "file").open("wb") as file:
            file.writelines(os.urandom(10**6) for _ in range(MEGABYTES))
        for key in ("key", "host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / key], check=True)
        add_login(home, "acme")
        with ours(home) as exchange:
            beside_idle_logins(home, exchange)
        # Start a new server, so that the idle logins cannot affect the comparison.
        with ours(home) as exchange, theirs(home) as openssh:
            if openssh:
                compare(home, exchange, openssh, options.rounds)


def compare(home: Path, exchange: UploadTarget, openssh: UploadTarget, rounds: int) -> None:
    """Upload to the two servers in turn, so that other load of the machine affects both servers."""
    seconds: dict[str, list[float]] = {exchange.name: [], openssh.name: []}
    for target in (exchange, openssh):
        put(home, target)  # the first upload warms up
    before = cpu_seconds(exchange.process.pid)
    for number in range(rounds):
        for target in (exchange, openssh) if number % 2 else (openssh, exchange):
            seconds[target.name].append(put(home, target))
    cpu = (cpu_seconds(exchange.process.pid) - before) / rounds
    for server, times in seconds.items():
        show(f"{MEGABYTES} MB to {server}: median of {rounds}", median(times), unit="s")
    our, their = median(seconds[exchange.name]), median(seconds[openssh.name])
    at_least("speed beside internal-sftp, medians", their / our, 0.5)
    show("CPU of our server per upload", cpu, unit="s")

"""`python -m tools.bench.soak`: runs the soak for an hour, or for `--seconds`."""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tools.bench.soak import commands, servers
from tools.bench.soak.client import PartyClient, Tally
from tools.bench.soak.commands import ROOT
from tools.bench.soak.faults import Faults
from tools.bench.soak.hosts import Host, Proxy
from tools.bench.soak.report import Soaked
from tools.bench.soak.traffic import Pace, Traffic
from tools.bench.soak.uploads import Uploader
from tools.bench.soak.verdict import grown, lost_or_doubled
from tools.launcher.embedded.data_home import temporary_home
from tools.launcher.processes.account import unprivileged_account
from tools.launcher.reaper.client import Reaper

WARM_UP = 10.0
"""Seconds of traffic without faults before memory is measured."""
RECOVERY = 10.0
"""Seconds of traffic after the last fault."""
OVERDUE = 300.0
"""The most seconds to wait for an answer after the last call began."""
LONG_ENOUGH = 600.0
"""The shortest run, in seconds, whose memory growth is judged."""
BEFORE_MIGRATIONS = "the last one before a migration"


def main() -> None:
    """Run the soak. Exit with code 1 if data was lost or duplicated, or memory grew."""
    asked = argparse.ArgumentParser(prog="make soak")
    asked.add_argument(
        "--seconds", type=float, default=3600.0, help="of traffic with faults (default: an hour)"
    )
    asked.add_argument(
        "--pace",
        type=above_zero,
        metavar="N",
        help="so many orders a second over all, and all else in proportion (default: as fast as answered);"
        " leaves the machine to others meanwhile",
    )
    asked.add_argument(
        "--previous",
        nargs="?",
        const=BEFORE_MIGRATIONS,
        metavar="VERSION",
        help="the second host runs this version of git's (the last one before a migration), as while hosts"
        " are upgraded in turn; then parts are killed and restarted, and nothing else goes wrong",
    )
    asked.add_argument("--report", type=Path, help="where the report goes besides standard output")
    options = asked.parse_args()
    # Refused connections are counted, so do not log a line for each.
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)
    version = options.previous
    if version == BEFORE_MIGRATIONS:
        version = before_migrations()
        if not version:
            say("this clone has no version from before a migration: there is nothing to run beside")
            return
    with ExitStack() as cleanup:
        reaper = Reaper()
        cleanup.callback(reaper.close)
        home = temporary_home(unprivileged_account())
        reaper.remove_at_end(home)
        other, beside = unpacked(version, home) if version else (ROOT, "")
        text, faulty = soak(options.seconds, Pace(options.pace), home, other, beside, reaper)
    print(text)
    if options.report:
        options.report.write_text(text)
    sys.exit(1 if faulty else 0)


def above_zero(text: str) -> float:
    """Return a finite number above 0. Raise argparse's own error, which names the option."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number above 0")
    return number


def unpacked(version: str, home: Path) -> tuple[Path, str]:
    """Unpack another version; return its folder and its name.

    The schema stays the current one, as during an upgrade of one host after another.
    """
    try:
        commit = git("rev-parse", "--verify", "--quiet", f"{version}^{{commit}}")
    except subprocess.CalledProcessError:
        raise SystemExit(
            f"This clone has no version {version}. If it is shallow, run git fetch --unshallow."
        ) from None
    folder = home / "previous"
    folder.mkdir()
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    if not commands.parts_of(folder):
        raise SystemExit(f"Version {version} has no deploy/systemd, which has the commands to start it.")
    return folder, git("log", "-1", "--format=%h (%s)", commit)


def before_migrations() -> str:
    """Return the last version before the newest migration; empty in a clone that lacks it."""
    try:
        return git(
            "rev-parse", "--verify", "--quiet", git("log", "-1", "--format=%H^", "--", "*/migrations/*.py")
        )
    except subprocess.CalledProcessError:
        return ""


def git(*arguments: str) -> str:
    """Return the output of a git command."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout.strip()


def soak(
    seconds: float, pace: Pace, home: Path, other: Path, beside: str, reaper: Reaper
) -> tuple[str, Sequence[str]]:
    """Return the report and the faults found. `other` is the second host's code, `beside` its version."""
    database, broker = servers.postgres(home, reaper), servers.redis(home, reaper)
    shared = {
        "DATABASE_URL": database.url,
        "REDIS_URL": broker.url,
        "SECRET_KEY": "soaked",
        "UPLOADS_DIR": str(home / "uploads"),
        "SFTP_HOST_KEY_FILE": str(host_key(home / "sftp_host_key")),
        "RATE_LIMIT": "off",
        "DEMO": "0",
        "BEHIND_PROXY": "1",
    }
    say("preparing the database")
    manage(shared, home, "migrate", "--no-input", "-v0")
    manage(shared, home, "demo_data", "--write-demo-json")
    hosts = [Host("one", home, ROOT, shared, reaper), Host("two", home, other, shared, reaper)]
    say("starting two hosts")
    for host in hosts:
        host.start()
    proxy = Proxy(hosts, home / "proxy.log", reaper)
    tally, give_up = Tally(), threading.Event()
    traffic = traffic_through(proxy, [host.sftp_port for host in hosts], home, tally, give_up, pace)
    traffic.prepare()
    traffic.start()
    time.sleep(WARM_UP)  # a process does not announce that it has loaded everything
    warm = memory(hosts)

    paced = pace.orders is not None
    faults = Faults(hosts, database, broker, hosts_only=bool(beside), paced=paced)
    stop = threading.Event()
    ending = threading.Timer(seconds, stop.set)
    ending.start()
    say(f"throwing faults for {seconds:g} s{', beside ' if beside else ''}{beside}")
    faults.throw_until(stop)
    for host in hosts:
        host.start()
    time.sleep(RECOVERY)  # the run needs this many seconds of traffic after the faults
    say("reading to the end")
    overdue = threading.Timer(OVERDUE, give_up.set)
    overdue.start()
    traffic.stop()
    traffic.finish()
    overdue.cancel()
    last = memory(hosts)
    reconciled = manage(shared, home, "reconcile", check=False)
    faulty = [*lost_or_doubled(traffic.seen, database.url)]
    if seconds >= LONG_ENOUGH:
        faulty += grown(warm, last)
    if reconciled.returncode:
        faulty.append(f"reconcile: {reconciled.stdout}{reconciled.stderr}")
    said = reconciled.stdout.strip().splitlines()
    done = Soaked(
        seconds,
        pace,
        os.cpu_count() or 1,
        tally,
        traffic.seen,
        faults,
        warm,
        last,
        said[-1] if said else "?",
        faulty,
        beside,
    )
    for host in hosts:
        host.stop()
    proxy.process.stop()
    broker.process.stop()
    database.process.stop()
    return done.text(), faulty


def host_key(path: Path) -> Path:
    """Make one key for all hosts, because clients remember one key per address."""
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    path.touch(0o600)
    path.write_bytes(key)
    return path


def traffic_through(
    proxy: Proxy,
    sftp_ports: Sequence[int],
    home: Path,
    tally: Tally,
    give_up: threading.Event,
    pace: Pace,
) -> Traffic:
    """Return the clients of the first retailer and the first supplier of the demo."""
    cast = json.loads((home / "demo.json").read_text())
    retailer, supplier = cast["retailers"][0], cast["suppliers"][0]

    def caller(role: str, party: dict[str, str]) -> PartyClient:
        return PartyClient(proxy.port, f"/v3/{role}/{party['id']}", party["api_key"], tally, give_up)

    login = supplier["sftp_username"], supplier["sftp_password"]
    area = Uploader(sftp_ports, cast["sftp"]["host_key"], *login, tally, give_up)
    return Traffic(
        caller("retailers", retailer),
        caller("suppliers", supplier),
        area,
        supplier["warehouses"][0]["id"],
        pace,
    )


def memory(hosts: Sequence[Host]) -> dict[str, int]:
    """Return the resident bytes of each part, summed over both hosts."""
    total: Counter[str] = Counter()
    for host in hosts:
        total.update(host.memory())
    return dict(total)


def manage(
    shared: dict[str, str], home: Path, *arguments: str, check: bool = True
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **shared, "DATA_DIR": str(home), "LOG_LEVEL": "WARNING"}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        check=check,
        text=True,
        capture_output=not check,
    )


def say(text: str) -> None:
    print(f"soak: {text}", flush=True)


if __name__ == "__main__":
    main()

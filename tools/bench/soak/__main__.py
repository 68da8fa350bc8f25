"""`python -m tools.bench.soak`, which runs the soak for an hour, or for `--seconds`."""

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
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tools.bench.soak import servers
from tools.bench.soak.client import PartyClient, Tally
from tools.bench.soak.commands import ROOT
from tools.bench.soak.damages import Damages
from tools.bench.soak.faults import Faults
from tools.bench.soak.hosts import Host, Proxy
from tools.bench.soak.previous import LAST_RELEASE, UnusableVersion, unpack, unpack_last_release
from tools.bench.soak.report import Soaked
from tools.bench.soak.scenarios import Scenarios
from tools.bench.soak.traffic import Pace, Traffic
from tools.bench.soak.uploads import Uploader
from tools.bench.soak.verdict import grown, lost_or_doubled, unexpected
from tools.launcher.embedded.data_home import temporary_home
from tools.launcher.processes.account import unprivileged_account
from tools.launcher.reaper.client import Reaper

WARM_UP = 10.0
"""Seconds of traffic without faults before memory is measured."""
RECOVERY = 10.0
"""Seconds of traffic after the last fault."""
OVERDUE = 300.0
"""Seconds after the end of the traffic until clients stop repeating unanswered calls."""
LONG_ENOUGH = 600.0
"""The shortest run, in seconds, whose memory growth is judged."""


def main() -> None:
    """Run the soak. Exit with code 1 if data was lost or duplicated, or memory grew."""
    parser = argparse.ArgumentParser(prog="make soak")
    parser.add_argument(
        "--seconds", type=float, default=3600.0, help="seconds of traffic with faults (default: an hour)"
    )
    parser.add_argument(
        "--pace",
        type=above_zero,
        metavar="N",
        help="at most N orders a second, and other requests in proportion, so that other programs get"
        " processor time (default: as fast as answered)",
    )
    parser.add_argument(
        "--previous",
        nargs="?",
        const=LAST_RELEASE,
        metavar="VERSION",
        help="upgrade from this version in git (default: the newest tag, else the last commit before a"
        " migration): it makes the database and serves while this code migrates it, then both serve; only"
        " parts are killed and restarted",
    )
    parser.add_argument("--report", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    # Refused connections are counted, so do not log a line for each.
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)
    with ExitStack() as cleanup:
        reaper = Reaper()
        cleanup.callback(reaper.close)
        home = temporary_home(unprivileged_account())
        reaper.remove_at_end(home)
        previous = Previous(*previous_version(options.previous, home)) if options.previous else None
        text, faulty = soak(options.seconds, Pace(options.pace), home, previous, reaper)
    print(text)
    if options.report:
        options.report.write_text(text)
    sys.exit(1 if faulty else 0)


def above_zero(text: str) -> float:
    """Return a finite number above 0. Raise argparse's own error, which names the option."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number


class Previous(NamedTuple):
    """The folder and the name of the version that the second host runs."""

    root: Path
    name: str


def previous_version(version: str, home: Path) -> tuple[Path, str]:
    """Unpack a version. Exit with a message if this code cannot upgrade its database."""
    try:
        if version == LAST_RELEASE:
            return unpack_last_release(home)
        return unpack(version, home / "previous")
    except UnusableVersion as error:
        raise SystemExit(f"soak: {error}") from None


def soak(
    seconds: float, pace: Pace, home: Path, previous: Previous | None, reaper: Reaper
) -> tuple[str, Sequence[str]]:
    """Run the soak. Return the report, and a sentence for each lost, duplicated or wrong result."""
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
    first = previous.root if previous else ROOT
    say("preparing the database")
    manage(shared, home, "migrate", "--no-input", "-v0", root=first)
    manage(shared, home, "demo_data", "--write-demo-json", root=first)
    new = Host("one", home, ROOT, shared, reaper)
    second = Host("two", home, first, shared, reaper)
    hosts = [new, second]
    say("starting two hosts")
    second.start()
    if not previous:
        new.start()
    proxy = Proxy(hosts, home / "proxy.log", reaper)
    tally, give_up = Tally(), threading.Event()
    traffic = traffic_through(proxy, [second.sftp_port, new.sftp_port], home, tally, give_up, pace)
    traffic.prepare()
    traffic.start()
    if previous:
        say(f"migrating while {previous.name} serves")
        manage(shared, home, "migrate", "--no-input", "-v0")
        new.start()
    time.sleep(WARM_UP)  # a process does not announce that it has loaded all its modules
    warm = memory(hosts)

    paced = pace.orders is not None
    damages = Damages(database.url, lambda: manage(shared, home, "reconcile", "--fix", check=False))
    faults = Faults(hosts, database, broker, hosts_only=previous is not None, paced=paced, damages=damages)
    stop = threading.Event()
    ending = threading.Timer(seconds, stop.set)
    ending.start()
    say(f"throwing faults for {seconds:g} s{f', beside {previous.name}' if previous else ''}")
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
    if previous:
        second.stop()
        manage(shared, home, "finish_upgrade")
    reconciled = manage(shared, home, "reconcile", check=False)
    logs = [host.parts["web"].log for host in hosts]
    faulty = [
        *lost_or_doubled(traffic.seen, database.url, traffic.retailer.party_id, traffic.supplier.party_id),
        *unexpected(tally.answers, logs),
        *damages.left,
    ]
    if seconds >= LONG_ENOUGH:
        faulty += grown(warm, last)
    if reconciled.returncode:
        faulty.append(f"reconcile: {reconciled.stdout}{reconciled.stderr}")
    result = reconciled.stdout.strip().rpartition("\n")[2]
    beside = previous.name if previous else ""
    report = Soaked(seconds, traffic, faults, warm, last, result, faulty, beside).text()
    for host in hosts:
        host.stop()
    for process in (proxy.process, broker.process, database.process):
        process.stop()
    return report, faulty


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
    """Return the traffic of the demo's first retailer and supplier, with scenarios of the second pair."""
    cast = json.loads((home / "demo.json").read_text())
    retailer, supplier = cast["retailers"][0], cast["suppliers"][0]
    buyer, seller = cast["retailers"][1], cast["suppliers"][1]

    def caller(role: str, party: dict[str, str]) -> PartyClient:
        return PartyClient(proxy.port, f"/v3/{role}/{party['id']}", party["api_key"], tally, give_up)

    login = supplier["sftp_username"], supplier["sftp_password"]
    area = Uploader(sftp_ports, cast["sftp"]["host_key"], *login, tally, give_up)
    return Traffic(
        caller("retailers", retailer),
        caller("suppliers", supplier),
        area,
        supplier["warehouses"][0]["id"],
        Scenarios(caller("retailers", buyer), caller("suppliers", seller), seller["warehouses"][0]["id"]),
        pace,
    )


def memory(hosts: Sequence[Host]) -> dict[str, int]:
    """Return the resident bytes of each part, summed over both hosts."""
    total: Counter[str] = Counter()
    for host in hosts:
        total.update(host.memory())
    return dict(total)


def manage(
    shared: dict[str, str], home: Path, *arguments: str, check: bool = True, root: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **shared, "DATA_DIR": str(home), "LOG_LEVEL": "WARNING"}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=root,
        env=environment,
        check=check,
        text=True,
        capture_output=not check,
    )


def say(text: str) -> None:
    print(f"soak: {text}", flush=True)


if __name__ == "__main__":
    main()

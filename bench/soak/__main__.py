"""`python -m bench.soak`: an hour, or as many seconds as `--seconds` says."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.soak import servers
from bench.soak.client import Caller, Tally
from bench.soak.faults import Faults
from bench.soak.hosts import ROOT, Host, Proxy
from bench.soak.report import Soaked
from bench.soak.traffic import Traffic
from bench.soak.verdict import grown, lost_or_doubled
from launcher.embedded.data_home import temporary_home
from launcher.processes.account import unprivileged_account
from launcher.reaper.client import Reaper

WARM_UP = 10.0
"""Seconds of traffic without faults, after which memory is measured."""
RECOVERY = 10.0
"""Seconds of traffic after the last fault."""


def main() -> None:
    """Exit code 1 where anything was lost, came twice, or grew."""
    asked = argparse.ArgumentParser(prog="make soak")
    asked.add_argument(
        "--seconds", type=float, default=3600.0, help="of traffic with faults (default: an hour)"
    )
    asked.add_argument(
        "--previous", help="a version of git's whose code the second host runs; no faults then"
    )
    asked.add_argument("--report", type=Path, help="where the report goes besides standard output")
    options = asked.parse_args()
    with ExitStack() as cleanup:
        reaper = Reaper()
        cleanup.callback(reaper.close)
        home = temporary_home(unprivileged_account())
        reaper.remove_at_end(home)
        roots = [ROOT, unpacked(options.previous, home) if options.previous else ROOT]
        text, faulty = soak(options.seconds, home, roots, reaper)
    print(text)
    if options.report:
        options.report.write_text(text)
    sys.exit(1 if faulty else 0)


def unpacked(version: str, home: Path) -> Path:
    """The code of another version. The schema stays the one of now, as while hosts are upgraded in turn."""
    folder = home / "previous"
    folder.mkdir()
    packed = subprocess.run(["git", "archive", version], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder


def soak(seconds: float, home: Path, roots: Sequence[Path], reaper: Reaper) -> tuple[str, Sequence[str]]:
    """The report, and what is wrong."""
    database, broker = servers.postgres(home, reaper), servers.redis(home, reaper)
    shared = {
        "DATABASE_URL": database.url,
        "REDIS_URL": broker.url,
        "SECRET_KEY": "soaked",
        "UPLOADS_DIR": str(home / "uploads"),
        "RATE_LIMIT": "off",
        "DEMO": "0",
        "BEHIND_PROXY": "1",
    }
    say("preparing the database")
    manage(shared, home, "migrate", "--no-input", "-v0")
    manage(shared, home, "demo_data", "--write-demo-json")
    hosts = [Host(name, home, root, shared, reaper) for name, root in zip(("one", "two"), roots, strict=True)]
    say("starting two hosts")
    for host in hosts:
        host.start()
    proxy = Proxy(hosts, home / "proxy.log", reaper)
    tally, give_up = Tally(), threading.Event()
    traffic = traffic_through(proxy, home, tally, give_up)
    traffic.prepare()
    traffic.start()
    time.sleep(WARM_UP)
    warm = memory(hosts)

    faults, stop = Faults(hosts, database, broker), threading.Event()
    ending = threading.Timer(seconds, stop.set)
    ending.start()
    if roots[0] == roots[1]:
        say(f"throwing faults for {seconds:g} s")
        faults.throw_until(stop)
    else:
        say(f"two versions on one schema for {seconds:g} s")
        stop.wait()
    for host in hosts:
        host.start()
    time.sleep(RECOVERY)
    say("reading to the end")
    overdue = threading.Timer(120, give_up.set)  # whoever has no answer by then gets none
    overdue.start()
    traffic.stop()
    traffic.finish()
    overdue.cancel()
    last = memory(hosts)
    reconciled = manage(shared, home, "reconcile", check=False)
    faulty = [*lost_or_doubled(traffic.seen, database.url), *grown(warm, last)]
    if reconciled.returncode:
        faulty.append(f"reconcile: {reconciled.stdout}{reconciled.stderr}")
    said = reconciled.stdout.strip().splitlines()
    done = Soaked(
        seconds,
        os.cpu_count() or 1,
        tally,
        traffic.seen,
        faults,
        warm,
        last,
        said[-1] if said else "?",
        faulty,
    )
    for host in hosts:
        host.stop()
    proxy.process.stop()
    broker.process.stop()
    database.process.stop()
    return done.text(), faulty


def traffic_through(proxy: Proxy, home: Path, tally: Tally, give_up: threading.Event) -> Traffic:
    """Of the first retailer and the first supplier of the demo's cast."""
    cast = json.loads((home / "demo.json").read_text())
    retailer, supplier = cast["retailers"][0], cast["suppliers"][0]

    def caller(role: str, party: dict[str, str]) -> Caller:
        return Caller(proxy.port, f"/v3/{role}/{party['id']}", party["api_key"], tally, give_up)

    return Traffic(
        caller("retailers", retailer), caller("suppliers", supplier), supplier["warehouses"][0]["id"]
    )


def memory(hosts: Sequence[Host]) -> dict[str, int]:
    """Resident bytes of each part, of both hosts together."""
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

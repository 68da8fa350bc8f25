"""The report of a soak, for docs/soak.md."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tools.bench.soak.faults import Faults
from tools.bench.soak.traffic import Traffic

HEAD = """# Soak test

`make soak` (`tools/bench/soak`) runs two hosts behind haproxy, on one PostgreSQL and one Redis, under mixed
traffic and one fault after another. It takes an hour; CI runs it for a minute (`ARGS="--seconds 60"`).
Clients repeat each request without an answer, with the same `Idempotency-Key`. This is the report of one
run.
"""


@dataclass
class Soaked:
    """The results of one run."""

    seconds: float
    traffic: Traffic
    faults: Faults
    warm: Mapping[str, int]
    last: Mapping[str, int]
    reconciled: str
    faulty: Sequence[str]
    beside: str

    def text(self) -> str:
        traffic, seen, tally = self.traffic, self.traffic.seen, self.traffic.retailer.tally
        took = sorted(tally.seconds)
        lines = [
            HEAD,
            f"- **Run**: {datetime.now(UTC):%Y-%m-%d}, {self.seconds:,.0f} s of traffic and faults,"
            f" {traffic.pace}, {os.cpu_count()} cores, Python {platform.python_version()},"
            " clients and servers on the same machine.",
            *([f"- **The second host** ran {self.beside}."] if self.beside else []),
            f"- **Result**: {'FAULTY' if self.faulty else 'nothing was lost or duplicated'};"
            f" `manage.py reconcile`: {self.reconciled}",
            f"- **Work**: {len(seen.orders):,} orders acknowledged, {len(seen.shipped):,} fulfillments"
            f" shipped, {len(seen.imported):,} files imported, {len(seen.uploaded):,} of them by SFTP,"
            f" {len(seen.events):,} events read, {len(seen.stamps):,} orders polled.",
            f"- **Scenarios**: {len(traffic.scenarios.played):,} orders of other parties, shipped in parts,"
            f" rejected, canceled, returned and corrected at random: {_counted(traffic.scenarios.steps)}.",
            f"- **Answers**: {_counted(tally.answers)}.",
            f"- **Response time**: median {_at(took, 0.5)}, 99th percentile {_at(took, 0.99)}."
            f" Longest time of a client without an answer: {tally.longest_outage:.1f} s.",
            "",
            "| Fault | Count |",
            "|---|---|",
            *(f"| {name} | {times} |" for name, times in sorted(self.faults.thrown.items())),
            "",
            f"Parts that stopped and were restarted: {_counted(self.faults.restarts) or 'none'}.",
            "",
            "| Part on both hosts | Memory after warm-up, MiB | Memory at the end, MiB |",
            "|---|---|---|",
            *(
                f"| {part} | {_mib(self.warm[part])} | {_mib(self.last[part])} |"
                for part in sorted(self.warm)
            ),
            *(["", "## Faulty", "", *(f"- {each}" for each in self.faulty[:50])] if self.faulty else []),
        ]
        return "\n".join(lines) + "\n"


def _mib(size: int) -> str:
    return f"{size / 2**20:.0f}"


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{times:,} × {name}" for name, times in counter.most_common())


def _at(seconds: Sequence[float], share: float) -> str:
    return f"{seconds[int(len(seconds) * share)] * 1000:,.0f} ms" if seconds else "–"

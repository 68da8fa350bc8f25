"""What /metrics says beside the counts of requests: how the service stands, found out every few seconds."""

from __future__ import annotations

import functools
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from api.signs_of_life import Sign, all_signs, parts_on_hosts
from config.watching.facts import MOST, Sample, all_facts

FRESH = 10.0
"""Seconds for which an answer holds: several Prometheus servers may ask."""

CAPPED = f"Counted up to {MOST}."
# Each metric, what it says, and its labels.
METRICS: dict[str, tuple[str, tuple[str, ...]]] = {
    "exchange_orders": (f"Orders by state. Those that are open: {CAPPED}", ("state",)),
    "exchange_orders_open": ("Orders that are neither completed nor canceled.", ()),
    "exchange_fulfillment_oldest_unanswered_seconds": (
        "How long the oldest has waited for its supplier: to accept it (new), to answer (canceling).",
        ("state",),
    ),
    "exchange_fulfillments_overdue": (f"Fulfillments past their time limit. {CAPPED}", ()),
    "exchange_imports": ("Imports that wait, run, or wait for a person.", ("status",)),
    "exchange_import_oldest_seconds": ("Age of the oldest import in this status.", ("status",)),
    "exchange_events_unpublished": (f"Events that are in no feed yet. {CAPPED}", ()),
    "exchange_event_lag_seconds": ("Age of the oldest event that is in no feed yet.", ()),
    "exchange_webhook_deliveries": (
        f"Deliveries that no receiver took: that wait for their time or turn, or were given up. {CAPPED}",
        ("status",),
    ),
    "exchange_webhook_lag_seconds": (
        "For how long what is to be sent now, to the receiver that waits the longest, could have been.",
        (),
    ),
    "exchange_feed_age_seconds": (
        "How long ago a supplier's last import of a kind, or count by push, came to a good end.",
        ("supplier", "kind"),
    ),
    "exchange_database_connections": ("Connections to the database server.", ()),
    "exchange_database_connections_limit": ("Connections that it allows.", ()),
    "exchange_database_size_bytes": ("What the database takes of its disk.", ()),
    "exchange_redis_up": ("Whether Redis answers.", ()),
    "exchange_part_age_seconds": (
        "How long ago a part of the service gave a sign of life on a host.",
        ("part", "host"),
    ),
    "exchange_part_processes": ("Processes of a part that gave a sign of life lately.", ("part", "host")),
    "exchange_part_memory_bytes": ("Resident memory of a part's processes.", ("part", "host")),
    "exchange_sftp_sessions": ("SFTP sessions.", ("host",)),
    "exchange_web_threads": ("Threads that answer requests.", ("host",)),
    "exchange_web_threads_busy": ("Threads that are answering one.", ("host",)),
    "exchange_watching_failed": ("Whether a question got no answer within its time.", ("question",)),
    "exchange_watching_seconds": ("How long it took to find all of this out.", ()),
    "exchange_build_info": ("1, with what is running.", ("version", "commit")),
}
OF_PARTS = {
    "exchange_sftp_sessions": ("sftp", "sessions"),
    "exchange_web_threads": ("web", "threads"),
    "exchange_web_threads_busy": ("web", "busy"),
}


class Standing(Collector):
    """The metrics above, with what was found out last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found_at = float("-inf")
        self._samples: list[Sample] = []

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Their names alone: nothing is asked when they are registered."""
        for name, (text, labels) in METRICS.items():
            yield GaugeMetricFamily(name, text, labels=labels)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Each metric with its samples; one that has none is there all the same."""
        by_name = defaultdict(list)
        for sample in self._fresh():
            by_name[sample.name].append(sample)
        for family in self.describe():
            for sample in by_name[family.name]:
                family.add_metric(sample.labels, sample.value)
            yield family

    def _fresh(self) -> list[Sample]:
        # Whoever comes while another is asking takes what that one finds.
        with self._lock:
            if time.monotonic() - self._found_at >= FRESH:
                self._samples = list(_find_out())
                self._found_at = time.monotonic()
            return self._samples


def _find_out() -> Iterator[Sample]:
    began = time.perf_counter()
    samples, failed = all_facts()
    yield from samples
    for question in failed:
        yield Sample("exchange_watching_failed", 1, (question,))
    try:
        signs = all_signs()
    except RedisError:
        yield Sample("exchange_redis_up", 0)
    else:
        yield Sample("exchange_redis_up", 1)
        yield from _parts(signs)
    yield Sample("exchange_build_info", 1, build())
    yield Sample("exchange_watching_seconds", time.perf_counter() - began)


def _parts(signs: list[Sign]) -> Iterator[Sample]:
    for place in parts_on_hosts(signs):
        at = place.part, place.host
        yield Sample("exchange_part_age_seconds", place.age, at)
        yield Sample("exchange_part_processes", len(place.alive), at)
        yield Sample("exchange_part_memory_bytes", place.memory, at)
        for name, (part, fact) in OF_PARTS.items():
            if place.part == part:
                yield Sample(name, place.facts.get(fact, 0), (place.host,))


@functools.cache
def build() -> tuple[str, str]:
    """The version, and the commit where it can be known; empty where it cannot."""
    root = Path(__file__).resolve().parent.parent.parent
    try:
        number = version("exchange")
    except PackageNotFoundError:
        number = _said_in(root / "pyproject.toml", 'version = "')
    return number, _commit(root)


def _said_in(path: Path, beginning: str) -> str:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return ""
    return next((line[len(beginning) :].rstrip('"') for line in lines if line.startswith(beginning)), "")


def _commit(root: Path) -> str:
    """What .git/HEAD leads to; an installation without one says it in a file COMMIT."""
    head = _said_in(root / ".git/HEAD", "")
    if head.startswith("ref: "):
        head = _said_in(root / ".git" / head.removeprefix("ref: "), "")
    return (head or _said_in(root / "COMMIT", ""))[:12]


@functools.cache
def registry() -> CollectorRegistry:
    """The registry of these metrics, apart from the counts that web processes share."""
    found = CollectorRegistry()
    found.register(Standing())
    return found

"""The collector of metrics about the state of the service. It asks the database at most every 10 seconds."""

from __future__ import annotations

import functools
import threading
import time
from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from api.facts import MOST, MetricSample, all_facts
from api.signs_of_life import Sign, all_signs, parts_on_hosts
from config.build import VERSION, commit

FRESH = 10.0
"""Seconds for which samples are reused, because several Prometheus servers may ask."""

CAPPED = f"Counted up to {MOST}."
# The help text and the labels of each metric.
METRICS: dict[str, tuple[str, tuple[str, ...]]] = {
    "exchange_orders": (f"Orders by state. Open orders: {CAPPED}", ("state",)),
    "exchange_orders_open": ("Orders that are neither completed nor canceled.", ()),
    "exchange_fulfillment_oldest_unanswered_seconds": (
        "Age of the oldest fulfillment that waits for its supplier: to accept (new), to answer (canceling).",
        ("state",),
    ),
    "exchange_reconcile_differences": ("Differences that the last nightly reconcile found.", ()),
    "exchange_reconcile_age_seconds": ("Time since the last nightly reconcile ended.", ()),
    "exchange_erasure_age_seconds": (
        "Age of the oldest erasure whose copies are not all erased yet; 0 if there is none.",
        (),
    ),
    "exchange_fulfillments_overdue": (f"Fulfillments past their time limit. {CAPPED}", ()),
    "exchange_imports": ("Imports that wait, run, or wait for a person.", ("status",)),
    "exchange_import_oldest_seconds": ("Age of the oldest import in this status.", ("status",)),
    "exchange_events_unpublished": (f"Events without a number, so not in the feed yet. {CAPPED}", ()),
    "exchange_event_lag_seconds": ("Age of the oldest event without a number.", ()),
    "exchange_webhook_deliveries": (
        f"Deliveries that wait or are dead. {CAPPED}",
        ("status",),
    ),
    "exchange_webhook_lag_seconds": (
        "Delay of the oldest due delivery or unrelayed event, whichever is larger.",
        (),
    ),
    "exchange_feed_age_seconds": (
        "Time since a supplier's last successful import of a kind, or stock push.",
        ("supplier", "kind"),
    ),
    "exchange_database_connections": ("Connections to the database server.", ()),
    "exchange_database_connections_limit": ("Largest number of connections to the database server.", ()),
    "exchange_database_size_bytes": ("Size of the database on disk.", ()),
    "exchange_standby_up": ("Whether a standby answers and follows the primary.", ("standby",)),
    "exchange_standby_lag_seconds": (
        "Age of the oldest commit that the standby may not have replayed, at most.",
        ("standby",),
    ),
    "exchange_redis_up": ("Whether Redis answers.", ()),
    "exchange_part_age_seconds": (
        "Time since the last sign of life of a part of the service on a host.",
        ("part", "host"),
    ),
    "exchange_part_processes": ("Processes of a part with a recent sign of life.", ("part", "host")),
    "exchange_part_memory_bytes": ("Resident memory of a part's processes.", ("part", "host")),
    "exchange_sftp_sessions": ("SFTP sessions.", ("host",)),
    "exchange_backup_age_seconds": ("Time since the newest complete backup of a host began.", ("host",)),
    "exchange_web_threads": ("Threads that answer requests.", ("host",)),
    "exchange_web_threads_busy": ("Threads that are answering a request.", ("host",)),
    "exchange_watching_failed": (
        "Whether a query for metrics failed or exceeded its time limit.",
        ("question",),
    ),
    "exchange_watching_seconds": ("Time to collect these metrics.", ()),
    "exchange_build_info": ("1, labeled with the running version.", ("version", "commit")),
}
OF_PARTS = {
    "exchange_sftp_sessions": ("sftp", "sessions"),
    "exchange_backup_age_seconds": ("backup", "seconds since the last backup"),
    "exchange_web_threads": ("web", "threads"),
    "exchange_web_threads_busy": ("web", "busy"),
}


class ServiceCollector(Collector):
    """The collector of the metrics in METRICS. Recent samples are reused."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._collected_at = float("-inf")
        self._samples: list[MetricSample] = []

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield the metrics without samples, so that the registration runs no query."""
        for name, (text, labels) in METRICS.items():
            yield GaugeMetricFamily(name, text, labels=labels)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each metric with its samples. Metrics without samples are yielded, too."""
        by_name = defaultdict(list)
        for sample in self._fresh():
            by_name[sample.name].append(sample)
        for family in self.describe():
            for sample in by_name[family.name]:
                family.add_metric(sample.labels, sample.value)
            yield family

    def _fresh(self) -> list[MetricSample]:
        # Concurrent callers wait and reuse the samples of the first caller.
        with self._lock:
            if time.monotonic() - self._collected_at >= FRESH:
                self._samples = list(_sample())
                self._collected_at = time.monotonic()
            return self._samples


def _sample() -> Iterator[MetricSample]:
    began = time.perf_counter()
    samples, failed = all_facts()
    yield from samples
    for question in failed:
        yield MetricSample("exchange_watching_failed", 1, (question,))
    try:
        signs = all_signs()
    except RedisError:
        yield MetricSample("exchange_redis_up", 0)
    else:
        yield MetricSample("exchange_redis_up", 1)
        yield from _parts(signs)
    yield MetricSample("exchange_build_info", 1, (VERSION, commit()))
    yield MetricSample("exchange_watching_seconds", time.perf_counter() - began)


def _parts(signs: list[Sign]) -> Iterator[MetricSample]:
    for place in parts_on_hosts(signs):
        at = place.part, place.host
        yield MetricSample("exchange_part_age_seconds", place.age, at)
        yield MetricSample("exchange_part_processes", len(place.alive), at)
        yield MetricSample("exchange_part_memory_bytes", place.memory, at)
        for name, (part, fact) in OF_PARTS.items():
            if place.part == part and fact in place.facts:  # a silent part has no facts
                yield MetricSample(name, place.facts[fact], (place.host,))


@functools.cache
def registry() -> CollectorRegistry:
    """Return the registry of these metrics. The metrics that web processes share have another registry."""
    registry = CollectorRegistry()
    registry.register(ServiceCollector())
    return registry

"""The system status for operators: the parts of the service on each host, and the waiting work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils import timezone
from redis.exceptions import RedisError

from api.signs_of_life import PartOnHost, all_signs, parts_on_hosts
from events.models import Event
from events.webhooks.selectors import delivery_totals
from imports.models import ImportJob, Status
from orders.nightly_results import Reconciliation

COUNTED = 1_000

# The purpose of each part. The page shows this text after the part's name.
PARTS = {
    "web": "answers the API and this site",
    "worker": "imports files",
    "fetcher": "fetches files from suppliers' own hosts",
    "ticker": "runs periodic tasks and operators' bulk actions",
    "beat": "schedules periodic tasks",
    "webhooks": "sends events to partners' addresses",
    "sftp": "receives uploads",
    "backup": "makes backups",
}
OPTIONAL = {"backup"}
"""Parts whose absence is not reported as a problem, because an installation does not need them."""


class PartStatus(NamedTuple):
    """A part of the service on one host, with its state."""

    on_host: PartOnHost
    task: str
    state: str
    busy: str


class PendingWork(NamedTuple):
    """A backlog: its number of items, and an age in seconds, such as the age of the oldest item."""

    name: str
    waiting: str
    seconds: float | None


class ServiceStatus(NamedTuple):
    """The status page's content. Without Redis there are no signs of life, and `parts` is empty."""

    redis: bool
    parts: Sequence[PartStatus]
    never_heard: Sequence[str]
    backlogs: Sequence[PendingWork]


def service_status() -> ServiceStatus:
    """Read the signs of life from Redis and the backlogs from indexes of the database."""
    try:
        found = parts_on_hosts(all_signs())
    except RedisError:
        return ServiceStatus(False, [], [], _backlogs())
    heard = {part.part for part in found}
    return ServiceStatus(
        True,
        [PartStatus(part, PARTS.get(part.part, ""), _state(part), _busy(part)) for part in found],
        [name for name in PARTS if name not in heard | OPTIONAL],
        _backlogs(),
    )


def _state(part: PartOnHost) -> str:
    if part.alive:
        return "alive"
    return "silent" if part.missed else "gone"


def _busy(part: PartOnHost) -> str:
    facts = {name: round(value) for name, value in part.facts.items()}
    if "threads" in facts:
        return f"{facts['busy']} of {facts['threads']} threads"
    return ", ".join(f"{value:,} {name}" for name, value in facts.items())


def _backlogs() -> list[PendingWork]:
    webhooks = delivery_totals(COUNTED)
    events = Event.objects.filter(number=None).order_by()[:COUNTED].count()
    imports = ImportJob.objects.filter(status=Status.QUEUED).order_by()[:COUNTED].count()
    return [
        PendingWork("events not yet in a feed", _counted(events), None),
        PendingWork("webhook deliveries waiting", _counted(webhooks.waiting), webhooks.lag),
        PendingWork("webhook deliveries given up", _counted(webhooks.dead), None),
        PendingWork("imports waiting for a worker", _counted(imports), None),
        *_reconciled(),
    ]


def _reconciled() -> list[PendingWork]:
    """Return the result of the last nightly reconcile, and its age."""
    last = Reconciliation.objects.filter(finished_at__isnull=False).first()
    if last is None or last.finished_at is None:
        return []
    seconds = (timezone.now() - last.finished_at).total_seconds()
    return [PendingWork("differences in the last nightly reconcile", f"{last.differences:,}", seconds)]


def _counted(number: int) -> str:
    return f"{number:,}" if number < COUNTED else f"{COUNTED:,} or more"

"""How the service stands, for operators: its parts on their hosts, and what waits to be passed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from redis.exceptions import RedisError

from api.signs_of_life import PartOnHost, all_signs, parts_on_hosts
from events.models import Event
from events.webhooks.selectors import delivery_totals
from imports.models import ImportJob, Status

COUNTED = 1_000

# What each part is for, in the words of who looks at it.
PARTS = {
    "web": "answers the API and this site",
    "worker": "imports files",
    "fetcher": "fetches files from suppliers' own hosts",
    "ticker": "does what comes by every few seconds, and operators' actions on many records",
    "beat": "gives the ticks",
    "webhooks": "sends events to partners' addresses",
    "sftp": "takes uploads",
}


class Part(NamedTuple):
    """A part on a host, and how it fares."""

    place: PartOnHost
    does: str
    state: str
    busy: str


class Backlog(NamedTuple):
    """What waits to be passed on: how much, and for how many seconds the first of it."""

    what: str
    waiting: str
    seconds: float | None


class Standing(NamedTuple):
    """All of it; no parts where Redis, by which they speak, says nothing."""

    redis: bool
    parts: Sequence[Part]
    never_heard: Sequence[str]
    backlogs: Sequence[Backlog]


def standing() -> Standing:
    """Ask Redis for signs of life and the database for what waits; both answer from indexes."""
    try:
        found = parts_on_hosts(all_signs())
    except RedisError:
        return Standing(False, [], [], _backlogs())
    heard = {place.part for place in found}
    return Standing(
        True,
        [Part(place, PARTS.get(place.part, ""), _state(place), _busy(place)) for place in found],
        [part for part in PARTS if part not in heard],
        _backlogs(),
    )


def _state(place: PartOnHost) -> str:
    if place.alive:
        return "alive"
    return "silent" if place.missed else "gone"


def _busy(place: PartOnHost) -> str:
    facts = {name: round(value) for name, value in place.facts.items()}
    if "threads" in facts:
        return f"{facts['busy']} of {facts['threads']} threads"
    return ", ".join(f"{value:,} {name}" for name, value in facts.items())


def _backlogs() -> list[Backlog]:
    webhooks = delivery_totals(COUNTED)
    events = Event.objects.filter(number=None).order_by()[:COUNTED].count()
    imports = ImportJob.objects.filter(status=Status.QUEUED).order_by()[:COUNTED].count()
    return [
        Backlog("events that are in no feed yet", _counted(events), None),
        Backlog("deliveries to webhooks that wait", _counted(webhooks.waiting), webhooks.lag),
        Backlog("deliveries to webhooks that were given up", _counted(webhooks.dead), None),
        Backlog("imports that wait for a worker", _counted(imports), None),
    ]


def _counted(number: int) -> str:
    return f"{number:,}" if number < COUNTED else f"{COUNTED:,} or more"

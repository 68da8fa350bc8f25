"""The timeline of a record for operators."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet

from accounts.models import member_names
from accounts.operating.remarks import RecordKey, remarks_on
from events.models import Event

BY_KEY = re.compile(r"key:(\S+) \((.*)\)")
FOR_PARTY = re.compile(r"(\w+) \((.+)\)")
"""The pattern of names of programs that act for a party, such as `demo (Acme)`."""
FULFILLMENT = "fulfillments.fulfillment"
LONGEST = 500  # a timeline shows at most this number of events


@dataclass(frozen=True)
class HistoryEntry:
    """One entry of the timeline: time, title, actor, and details as text."""

    at: datetime
    title: str
    by: str = ""
    key: str = ""
    request_id: str = ""
    type: str = ""
    fulfillment_id: int | None = None
    from_state: str = ""
    to_state: str = ""
    details: list[tuple[str, str]] = field(default_factory=list)
    text: str = ""
    """A text that a person wrote."""
    about: str = "event"
    began: datetime | None = None
    """When the request of this entry began, if that is known."""


@dataclass(frozen=True)
class TimelineEntry:
    """One event with its data in words."""

    event: Event
    details: list[tuple[str, str]]

    @property
    def title(self) -> str:
        """Return the type in words: `import.awaiting_approval` as `Import awaiting approval`."""
        return self.event.type.replace(".", " ").replace("_", " ").capitalize()


def timeline(record: RecordKey, **of_events: int) -> list[HistoryEntry]:
    """Return the events and the remarks of a record, oldest first."""
    shown = [*event_entries(newest(Event.objects.filter(**of_events))), *remark_entries([record])]
    return sorted(shown, key=lambda entry: entry.at)


def newest(events: QuerySet[Event]) -> list[Event]:
    """Return the newest LONGEST events, oldest first."""
    return list(events.order_by("-id")[:LONGEST])[::-1]


def event_entries(events: Iterable[Event]) -> list[HistoryEntry]:
    """Return events as entries of a timeline."""
    happened = list(events)
    people = member_names({event.actor for event in happened})
    return [_history_entry(entry, people) for entry in entries(happened)]


def _history_entry(entry: TimelineEntry, people: Mapping[str, str]) -> HistoryEntry:
    event = entry.event
    by, key = actor_name(event.actor, people)
    return HistoryEntry(
        event.occurred_at,
        entry.title,
        by,
        key,
        event.request_id,
        event.type,
        event.fulfillment_id,
        event.from_state,
        event.to_state,
        entry.details,
    )


def remark_entries(subjects: Collection[RecordKey]) -> list[HistoryEntry]:
    """Return the comments and messages about these records."""
    return [
        HistoryEntry(
            remark.at,
            remark.title,
            remark.by,
            fulfillment_id=remark.about[1] if remark.about[0] == FULFILLMENT else None,
            details=[*remark.details],
            text=remark.text,
            about="remark",
        )
        for remark in remarks_on(subjects)
    ]


def entries(events: Iterable[Event]) -> Iterable[TimelineEntry]:
    """Yield events with their data in words. Empty values are left out."""
    for event in events:
        worded = ((name.replace("_", " "), in_words(value)) for name, value in event.data.items())
        yield TimelineEntry(event, [(name, text) for name, text in worded if text])


def in_words(value: object) -> str:
    """Return a JSON value in words: `[{"line": 7, "quantity": 2}]` as `line 7, quantity 2`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {in_words(member)}" for name, member in value.items())
    if isinstance(value, list):
        return "; ".join(in_words(element) for element in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def actor_name(actor: str, names: Mapping[str, str]) -> tuple[str, str]:
    """Return an actor's name, and the prefix of the actor's API key or "". `names` has members' names."""
    match = BY_KEY.fullmatch(actor)
    if match:
        return match[2], match[1]
    kind, _, name = actor.partition(":")
    for_party = FOR_PARTY.fullmatch(name)
    service = f"{for_party[2]} ({for_party[1]})" if for_party else f"the service ({name})"
    return names.get(actor) or {"user": name, "system": service}.get(kind, actor), ""

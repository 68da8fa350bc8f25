"""The timeline of a record, as operators see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from events.models import Event

LONGEST = 500  # a timeline shows at most this number of events


@dataclass(frozen=True)
class TimelineEntry:
    """One event with its data in words."""

    event: Event
    details: list[tuple[str, str]]

    @property
    def title(self) -> str:
        """Return the type in words: `import.awaiting_approval` as `Import awaiting approval`."""
        return self.event.type.replace(".", " ").replace("_", " ").capitalize()


def timeline(**record: int) -> list[TimelineEntry]:
    """Return the events of an order, a fulfillment or an import, oldest first."""
    return list(entries(Event.objects.filter(**record).order_by("id")[:LONGEST]))


def entries(events: Iterable[Event]) -> Iterable[TimelineEntry]:
    """Return events with their data in words, without empty values."""
    for event in events:
        worded = ((name.replace("_", " "), in_words(value)) for name, value in event.data.items())
        yield TimelineEntry(event, [(name, text) for name, text in worded if text])


def in_words(value: Any) -> str:
    """Return a JSON value in words: `[{"line": 7, "quantity": 2}]` as `line 7, quantity 2`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {in_words(member)}" for name, member in value.items())
    if isinstance(value, list):
        return "; ".join(in_words(element) for element in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)

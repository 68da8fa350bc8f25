"""A record's history as operators read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from events.models import Event

LONGEST = 500  # events of one record that are shown


@dataclass(frozen=True)
class Entry:
    """One event, with what it says about itself in words."""

    event: Event
    details: list[tuple[str, str]]

    @property
    def title(self) -> str:
        """What happened: `import.awaiting_approval` as `Import awaiting approval`."""
        return self.event.type.replace(".", " ").replace("_", " ").capitalize()


def timeline(**record: int) -> list[Entry]:
    """The history of an order (`order_id`; with `fulfillment_id` only that one) or import, oldest first."""
    return list(entries(Event.objects.filter(**record).order_by("id")[:LONGEST]))


def entries(events: Iterable[Event]) -> Iterable[Entry]:
    """Events with their data in words; what is empty says nothing."""
    for event in events:
        worded = ((name.replace("_", " "), in_words(value)) for name, value in event.data.items())
        yield Entry(event, [(name, text) for name, text in worded if text])


def in_words(value: Any) -> str:
    """`[{"line": 7, "quantity": 2}]` as `line 7, quantity 2`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {in_words(each)}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(in_words(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)

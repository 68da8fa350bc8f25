"""Writing history: inside the change that it describes, or not at all."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from accounts.actors import Actor
from events.models import Event

PIECES = ("items", "added", "dropped")
"""Where the data of an order's and a fulfillment's events name pieces of lines."""

OPERATOR_REASON = "operator_reason"
"""Where an event's data says why an operator did it: partners do not read it."""


def draft(type: str, *, by: Actor, **fields: Any) -> Event:  # noqa: A002 - the field's name in the API
    """An event that is not written yet. Its area is the plural of its type's first word."""
    fields.setdefault("area", f"{type.partition('.')[0]}s")
    if by.reason:
        fields["data"] = {**fields.get("data", {}), OPERATOR_REASON: by.reason}
    return Event(type=type, actor=by.name, request_id=by.request_id, **fields)


def record(type: str, *, by: Actor, **fields: Any) -> Event:  # noqa: A002 - the field's name in the API
    """Write one event in the current transaction.

    Raises RuntimeError outside of a transaction: an event must not outlive a change that failed.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"{type}: an event is recorded inside the change that it describes")
    event = draft(type, by=by, **fields)
    event.save(force_insert=True)
    return event

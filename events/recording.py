"""Functions that record an event in the transaction of its change."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from accounts.actors import Actor
from events.models import Event
from events.waking import wake_after_commit

UNIT_LISTS = ("items", "added", "dropped")
"""The keys in the data of order and fulfillment events that list units of lines."""

OPERATOR_REASON = "operator_reason"
APPROVED_BY = "approved_by"
FOR_OPERATORS = (OPERATOR_REASON, APPROVED_BY)
"""The keys in an event's data for the reason and the second operator. Partners never see these values."""


def draft(type: str, *, by: Actor, **fields: Any) -> Event:  # noqa: A002 - the field's name in the API
    """Return an unsaved event. Its default area is the plural of the type's first word.

    Wake the senders of webhooks when the current transaction commits.
    """
    fields.setdefault("area", f"{type.partition('.')[0]}s")
    for_operators = {OPERATOR_REASON: by.reason, APPROVED_BY: by.approved_by}
    if added := {name: text for name, text in for_operators.items() if text}:
        fields["data"] = {**fields.get("data", {}), **added}
    wake_after_commit()
    return Event(type=type, actor=by.name, request_id=by.request_id, **fields)


def record(type: str, *, by: Actor, **fields: object) -> Event:  # noqa: A002 - the field's name in the API
    """Save one event in the current transaction.

    Raises RuntimeError outside a transaction: an event must not survive a failed change.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"{type}: record an event inside the transaction of its change")
    event = draft(type, by=by, **fields)
    event.save(force_insert=True)
    return event

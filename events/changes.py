"""Functions that save a row together with an event that shows the old and the new values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model

from accounts.actors import Actor
from api.renderers import iso, number
from events.recording import record

LONGEST = 200
M = TypeVar("M", bound=Model)


def differences(stored: Model, values: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Return the fields that differ from the stored row: `{"retail_price": {"from": "5", "to": "6"}}`."""
    return {
        name: {"from": _plain(getattr(stored, name)), "to": _plain(value)}
        for name, value in values.items()
        if getattr(stored, name) != value
    }


def add_recorded(
    instance: Model, subject: str, *, by: Actor, data: Mapping[str, object], **fields: object
) -> None:
    """Save a new row and record `<subject>.created`."""
    with transaction.atomic():
        instance.save(force_insert=True)
        record_created(instance, subject, by=by, data=data, **fields)


def record_created(
    instance: Model, subject: str, *, by: Actor, data: Mapping[str, object], **fields: object
) -> None:
    """Record `<subject>.created` for a row that was saved in this transaction."""
    record(f"{subject}.created", by=by, data={f"{subject}_id": instance.pk, **data}, **fields)


def delete_recorded(
    instance: Model, subject: str, *, by: Actor, data: Mapping[str, object], **fields: object
) -> None:
    """Delete a row and record `<subject>.deleted` with its data."""
    with transaction.atomic():
        record(f"{subject}.deleted", by=by, data={f"{subject}_id": instance.pk, **data}, **fields)
        instance.delete()


def change_recorded(
    instance: M,
    names: Collection[str],
    subject: str,
    *,
    by: Actor,
    data: Mapping[str, object],
    **fields: object,
) -> bool:
    """Save these fields of a row and record `<subject>.updated` with their old and new values.

    Return False if the stored row already had the new values.
    """
    with transaction.atomic():
        stored = type(instance)._base_manager.select_for_update().get(pk=instance.pk)
        changed = differences(stored, {name: getattr(instance, name) for name in names})
        if changed:
            instance.save(update_fields=list(changed))
            data = {f"{subject}_id": instance.pk, **data, "changed": changed}
            record(f"{subject}.updated", by=by, data=data, **fields)
    return bool(changed)


def _plain(value: object) -> Any:
    """Return a value in a form that JSON can store."""
    if isinstance(value, Decimal):
        return str(number(value))
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, bytes | memoryview):
        return f"{len(value):,} bytes"
    if isinstance(value, Model):
        return value.pk
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]}…"
    return value

"""What a change changed, as its event tells it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Model

from api.renderers import iso, number

LONGEST = 200


def differences(stored: Model, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The fields whose values differ from the stored ones: `{"retail_price": {"from": "5", "to": "6"}}`."""
    return {
        name: {"from": _told(getattr(stored, name)), "to": _told(value)}
        for name, value in values.items()
        if getattr(stored, name) != value
    }


def _told(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(number(value))
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]}…"
    return value

"""Bulk actions that cannot be undone: the operator types the number of rows, and the action starts later."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from accounts.models import OperatorAction
from accounts.operating.operator_actions import AdminAction

WAIT = timedelta(seconds=30)
"""The time in which a confirmed action can be stopped before its first row."""
FROM_ROWS = 2


def is_final(action: AdminAction[Any], rows: int) -> bool:
    """Return whether the action on this number of rows needs the typed number and the wait."""
    return action.is_final and rows >= FROM_ROWS


def starts_at(action: AdminAction[Any], rows: int) -> datetime | None:
    """Return when an action that is confirmed now may start, or None for an action without a wait."""
    return timezone.now() + WAIT if is_final(action, rows) else None


def seconds_left(chosen: OperatorAction) -> int:
    """Return the seconds until a confirmed action starts, or 0 if it does not wait."""
    if chosen.starts_at is None or chosen.finished_at is not None:
        return 0
    return max(0, -int((timezone.now() - chosen.starts_at).total_seconds() // 1))


class TypedNumber(forms.IntegerField):
    """A field that accepts only the number of rows of the action."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        super().__init__(
            label=f"Type {rows} to confirm",
            widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
            error_messages={"required": self.message, "invalid": self.message},
        )

    @property
    def message(self) -> str:
        return f"This action changes {self.rows} rows and cannot be undone. Type {self.rows} to confirm it."

    def clean(self, value: object) -> Any:
        if super().clean(value) != self.rows:
            raise forms.ValidationError(self.message, code="other_number")
        return self.rows

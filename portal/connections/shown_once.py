"""Secrets that the response to an action shows once. They are kept only as an attribute of the record."""

from __future__ import annotations

from typing import Any


def show_once(record: Any, *secrets: tuple[str, str]) -> None:
    """Keep these secrets, each with its label, for the response to the action."""
    record.shown_once = secrets


def secrets_of(record: object) -> tuple[tuple[str, str], ...]:
    """Return the secrets that the last action has created, with their labels."""
    secrets: tuple[tuple[str, str], ...] = getattr(record, "shown_once", ())
    return secrets

"""Secrets that the page after an action shows once. Only the record in memory keeps the secrets."""

from __future__ import annotations

from typing import Any


def show_once(record: Any, *secrets: tuple[str, str]) -> None:
    """Let the next page show these secrets, each with its label."""
    record.shown_once = secrets


def secrets_of(record: object) -> tuple[tuple[str, str], ...]:
    """Return the secrets that the last action has created, with their labels."""
    secrets: tuple[tuple[str, str], ...] = getattr(record, "shown_once", ())
    return secrets

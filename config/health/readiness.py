"""The check that this process can answer requests: its database must be writable (contract 17)."""

from __future__ import annotations

from http import HTTPStatus

from django.db import Error, connection

from api import envelope

OK = "ok"
SILENT = "does not answer"
RETRY_AFTER = "5"


def database() -> str:
    """Return the state of the database. If a persistent connection is dead, try a new connection."""
    was_kept = connection.connection is not None and not connection.in_atomic_block
    try:
        return _ask()
    except Error:
        if not connection.in_atomic_block:
            connection.close()
    try:
        return _ask() if was_kept else SILENT
    except Error:
        return SILENT


def _ask() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        (standby,) = cursor.fetchone()
    return "is a standby" if standby else OK


def answer(state: str) -> tuple[int, dict[str, object]]:
    """Return the status and the body of /readyz for a state of the database."""
    checks = {"database": state}
    if state == OK:
        return HTTPStatus.OK, {"status": "ready", "checks": checks}
    reason = f"The database {state}. Try again in a few seconds."
    refusal = envelope.error("unavailable", reason)
    return HTTPStatus.SERVICE_UNAVAILABLE, {**refusal, "status": "not ready", "checks": checks}

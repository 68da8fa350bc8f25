"""Exceptions that end an import early."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError

from api.errors import BUSY

# Classes of SQLSTATE: lost connection, rolled-back transaction, missing resources; 57P: server shutdown.
TEMPORARY = ("08", "40", "53", "57P")


def is_temporary(error: Exception) -> bool:
    """Return whether the database is unavailable or busy, so that the same work may succeed later.

    A statement that PostgreSQL refuses, for example for too many arguments, fails again each time.
    """
    state = getattr(error.__cause__, "sqlstate", None)
    if state is None:
        return isinstance(error, OperationalError | InterfaceError)
    return state in BUSY or state.startswith(TEMPORARY)


class Unreadable(Exception):
    """The file as a whole cannot be imported. The exception's code and message become the job's `error`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Canceled(Exception):
    """A person asked to cancel the job."""

"""The request id, which connects an answer with its log lines and history rows."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

HEADER = "X-Request-Id"
SANE = re.compile(r"[A-Za-z0-9._:/+=@-]{1,100}")

_current: ContextVar[str] = ContextVar("request_id", default="")
_party: ContextVar[str] = ContextVar("party", default="")
_arrived: ContextVar[float | None] = ContextVar("arrived", default=None)


def current_request_id() -> str:
    """Return the id of the current request or task, or an empty string without a request or task."""
    return _current.get()


def begin(offered: str | None) -> str:
    """Start a request in this context, with the client's id if it is valid, else with a new id."""
    chosen = offered if offered and SANE.fullmatch(offered) else uuid.uuid4().hex
    _current.set(chosen)
    _party.set("")
    _arrived.set(time.monotonic())
    return chosen


@contextmanager
def carried_on(carried: str, party: str) -> Iterator[None]:
    """Continue the work of an earlier request or task in this context, with its id (if known) and party."""
    before = _current.set(carried or _current.get()), _party.set(party)
    try:
        yield
    finally:
        _current.reset(before[0])
        _party.reset(before[1])


def seconds_since_arrival() -> float:
    """Return the seconds since the current request or task arrived, or 0 without a request or task."""
    arrived = _arrived.get()
    return 0.0 if arrived is None else time.monotonic() - arrived


def current_party() -> str:
    """Return the party of the current request, such as `supplier:1`; empty until its key is known."""
    return _party.get()


def name_party(party: str) -> None:
    """Set the party of the current request."""
    _party.set(party)

"""The id that ties an answer, its log lines and its history rows together."""

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
    """The id of the request (or task) being worked on; empty outside of any."""
    return _current.get()


def begin(offered: str | None) -> str:
    """Take the client's id when it is a sane one, else make one, and remember it for this context."""
    chosen = offered if offered and SANE.fullmatch(offered) else uuid.uuid4().hex
    _current.set(chosen)
    _party.set("")
    _arrived.set(time.monotonic())
    return chosen


@contextmanager
def carried_on(carried: str, party: str) -> Iterator[None]:
    """Work on what an earlier request (or task) has left: under its id, if any, and for its party."""
    before = _current.set(carried or _current.get()), _party.set(party)
    try:
        yield
    finally:
        _current.reset(before[0])
        _party.reset(before[1])


def seconds_since_arrival() -> float:
    """How long ago the request (or task) being worked on arrived; 0 outside of any."""
    arrived = _arrived.get()
    return 0.0 if arrived is None else time.monotonic() - arrived


def current_party() -> str:
    """The party whose request is being worked on, such as `supplier:1`; empty before its key is known."""
    return _party.get()


def name_party(party: str) -> None:
    """Remember for this context whose request it is."""
    _party.set(party)

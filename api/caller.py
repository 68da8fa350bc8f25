"""The verdict on the current request's credential. The web process uses the verdict to share its threads."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """The result of checking the credential of one request."""

    party: str = ""
    """The party of an accepted credential, such as `supplier:1`. Empty if no credential was accepted."""
    wrong: bool = False
    """Whether the request had a credential that is not valid."""
    refused_for: float = 0.0
    """Seconds for which the client's address gets 429 for unknown credentials."""


UNKNOWN = Verdict()
_verdict: ContextVar[Verdict] = ContextVar("verdict", default=UNKNOWN)


def begin() -> None:
    """Forget the verdict of the thread's previous request."""
    _verdict.set(UNKNOWN)


def accept(party: str) -> None:
    """Record that the credential belongs to this party."""
    _verdict.set(Verdict(party))


def reject(*, refused_for: float = 0.0) -> None:
    """Record that the credential is wrong.

    `refused_for` is the number of seconds for which the client's network may not try unknown credentials.
    """
    _verdict.set(Verdict(wrong=True, refused_for=refused_for))


def verdict() -> Verdict:
    """Return whether the credential of the current request is known, wrong, or not checked yet."""
    return _verdict.get()

"""Parties of requests: the party of an accepted credential, or else the client's address."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, NamedTuple

from api.caller import Verdict
from api.client_networks import address_of, network_of

TOKENS = "/oauth/"
MOST_KNOWN = 10_000
MOST_REFUSED = 10_000


class Stranger(NamedTuple):
    """An address. All its clients without an accepted key or session share this party."""

    network: str


class Caller(NamedTuple):
    """Where a request comes from, and the credential that it bears."""

    stranger: Stranger
    credential: int
    """A hash of the key or the session; 0 without either."""
    tries_key: bool
    """The request bears a key, or asks for a token with a client's secret."""


class Callers:
    """Reads callers from the heads of requests."""

    def __init__(self, *, behind_proxy: bool, session_cookie: str) -> None:
        self._behind_proxy = behind_proxy
        self._session = re.compile(rf"(?:^|;[ \t]*){re.escape(session_cookie)}=([^;]+)")

    def read(self, request: Any, peer: str) -> Caller:
        """Return the caller of a request that gunicorn has parsed; header names are upper case there."""
        headers: list[tuple[str, str]] = request.headers
        forwarded = ",".join(value for name, value in headers if name == "X-FORWARDED-FOR")
        address = address_of(peer, forwarded, behind_proxy=self._behind_proxy)
        stranger = Stranger(network_of(address))
        if key := ",".join(value for name, value in headers if name == "AUTHORIZATION"):
            return Caller(stranger, hash(("key", key)), tries_key=True)
        cookies = "; ".join(value for name, value in headers if name == "COOKIE")
        session = self._session.search(cookies)
        credential = hash(("session", session[1])) if session else 0
        return Caller(stranger, credential, tries_key=request.path.startswith(TOKENS))


class Parties:
    """The accepted credentials of this process, and the addresses that may not try others now."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._refused_until: dict[Stranger, float] = {}

    def of(self, caller: Caller) -> Hashable:
        """Return the party behind a credential, or the stranger at its address."""
        return self._known.get(caller.credential, caller.stranger)

    def note(self, caller: Caller, verdict: Verdict, now: float) -> None:
        """Record what an answer has shown about its caller."""
        if verdict.party and caller.credential:
            self.learn(caller.credential, verdict.party)
        elif verdict.wrong:
            self.forget(caller.credential)
        if verdict.refused_for:
            self.refuse(caller.stranger, now + verdict.refused_for)

    def learn(self, credential: int, party: str) -> None:
        """Record an accepted credential: all credentials of a party share one share of the threads."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[credential] = party

    def forget(self, credential: int) -> None:
        """Drop a credential that is no longer valid."""
        self._known.pop(credential, None)

    def refuse(self, stranger: Stranger, until: float) -> None:
        """Refuse unknown keys of this address for a while."""
        if len(self._refused_until) >= MOST_REFUSED:
            self._refused_until.clear()
        self._refused_until[stranger] = until

    def refused_for(self, caller: Caller, now: float) -> float:
        """Return the seconds left in which the caller's unknown key gets 429, or 0."""
        if not caller.tries_key or caller.credential in self._known:
            return 0.0
        until = self._refused_until.get(caller.stranger, 0.0)
        return max(0.0, until - now)


def is_stranger(party: Hashable) -> bool:
    return isinstance(party, Stranger)

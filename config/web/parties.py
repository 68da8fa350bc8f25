"""The party of each request. The threads are shared among parties.

The party is the owner of an accepted credential. Otherwise it is a `Stranger`: the network of the client.
"""

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
    """The party of all clients of one network that have no accepted key or session."""

    network: str


class Caller(NamedTuple):
    """The network of a request's client, and the request's credential."""

    stranger: Stranger
    credential: int
    """A hash of the key or the session. 0 if the request has neither."""
    tries_key: bool
    """The request has a key, or requests an OAuth token with a client's secret."""


class Callers:
    """A reader of callers from the heads of requests."""

    def __init__(self, *, behind_proxy: bool, session_cookie: str) -> None:
        self._behind_proxy = behind_proxy
        self._session = re.compile(rf"(?:^|;[ \t]*){re.escape(session_cookie)}=([^;]+)")

    def read(self, request: Any, peer: str) -> Caller:
        """Return the caller of a request that gunicorn has parsed, with header names in upper case."""
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
    """The accepted credentials that this process knows, and the networks that may not try keys now."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._refused_until: dict[Stranger, float] = {}

    def of(self, caller: Caller) -> Hashable:
        """Return the party of a known credential, otherwise the stranger of the caller's network."""
        return self._known.get(caller.credential, caller.stranger)

    def note(self, caller: Caller, verdict: Verdict, now: float) -> None:
        """Record the verdict on a caller's credential."""
        if verdict.party and caller.credential:
            self.learn(caller.credential, verdict.party)
        elif verdict.wrong:
            self.forget(caller.credential)
        if verdict.refused_for:
            self.refuse(caller.stranger, now + verdict.refused_for)

    def learn(self, credential: int, party: str) -> None:
        """Record the party of an accepted credential. All credentials of a party share its threads."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[credential] = party

    def forget(self, credential: int) -> None:
        """Drop a credential that is no longer valid."""
        self._known.pop(credential, None)

    def refuse(self, stranger: Stranger, until: float) -> None:
        """Refuse unknown keys from this network until this time."""
        if len(self._refused_until) >= MOST_REFUSED:
            self._refused_until.clear()
        self._refused_until[stranger] = until

    def refused_for(self, caller: Caller, now: float) -> float:
        """Return the seconds for which the caller's unknown key gets 429, or 0 if the key may be tried."""
        if not caller.tries_key or caller.credential in self._known:
            return 0.0
        until = self._refused_until.get(caller.stranger, 0.0)
        return max(0.0, until - now)


def is_stranger(party: Hashable) -> bool:
    return isinstance(party, Stranger)

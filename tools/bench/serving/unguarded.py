"""Settings of a server that remembers keys, has no rate limits, and serves the oldest request first."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from config.settings import REST_FRAMEWORK as GUARDED
from config.web.turns import Turns
from tools.bench.serving.settings import *  # noqa: F403

REST_FRAMEWORK = {
    **GUARDED,
    "DEFAULT_AUTHENTICATION_CLASSES": ["tools.bench.serving.known.RememberedAuthentication"],
    "DEFAULT_THROTTLE_CLASSES": [],
}


def _first_come(turns: Turns[Any]) -> Iterator[tuple[Hashable, Any]]:
    while turns.free and turns._waiting:
        party = next(iter(turns._waiting))
        _, item = turns._waiting[party].popleft()
        if not turns._waiting[party]:
            del turns._waiting[party]
        turns._busy[party] = turns._busy.get(party, 0) + 1
        turns._strangers += turns._is_stranger(party)
        turns.free -= 1
        yield party, item


Turns.take = _first_come  # type: ignore[method-assign, assignment]

"""The metrics about standbys."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from api.facts import MetricSample
from fastdb.standbys.choosing import state_of
from fastdb.standbys.states import primary_state


def standbys(cursor: object) -> Iterable[MetricSample]:
    """Yield whether each standby follows the primary, and how many seconds it is behind."""
    del cursor  # unused: `state_of` asks each standby over its own connection
    if not settings.STANDBYS:
        return
    primary = primary_state(fresh=0)
    for alias in settings.STANDBYS:
        state = state_of(alias)
        is_up = state is not None and state.follows(primary)
        yield MetricSample("exchange_standby_up", int(is_up), (alias,))
        if state is not None and is_up:
            yield MetricSample(
                "exchange_standby_lag_seconds", round(state.seconds_behind(primary), 3), (alias,)
            )

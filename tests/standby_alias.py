"""A second database alias for reads. It connects to a real standby, or to the primary as a substitute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import connection, connections
from django.test import override_settings

from config.database import READ_ONLY
from fastdb.standbys import choosing, floors, reads, states

ALIAS = "standby_1"


@contextmanager
def standby_alias(alias: str = ALIAS, **address: Any) -> Iterator[None]:
    """Let reads use this alias in the block. Without `address`, the alias connects to the primary."""
    options = {**connection.settings_dict["OPTIONS"]}
    options["options"] = f"{options.get('options', '')} {READ_ONLY}"
    connections.settings[alias] = {**connection.settings_dict, "OPTIONS": options, **address}
    standby = connections[alias]

    def connect() -> None:
        """Connect to an alias that the test has not declared: Django's test cases would refuse it."""
        if standby.connection is None:
            with standby.wrap_database_errors:
                standby.connect()

    setattr(standby, "ensure_connection", connect)  # noqa: B010 - mypy refuses an assignment to a method
    forget_states()
    try:
        with override_settings(STANDBYS=[*settings.STANDBYS, alias]):
            yield
    finally:
        connections[alias].close()
        del connections[alias], connections.settings[alias]
        forget_states()


def forget_states() -> None:
    """Forget the known states of both servers, so that the next read queries the states again."""
    states._primary.clear()
    choosing._left_out.clear()
    floors._Doubt.until = 0.0


def answered(server: str) -> dict[str, float]:
    """Return how many reads a server (`standby` or `primary`) has answered, by the reason for the choice."""
    samples = [sample for family in reads.READS.collect() for sample in family.samples]
    return {
        sample.labels["reason"]: sample.value
        for sample in samples
        if sample.name.endswith("_total") and sample.labels["server"] == server
    }


@contextmanager
def answering(server: str, reason: str = "", times: int = 1) -> Iterator[None]:
    """Check that the block has `times` reads, and that this server answers all of them for this reason."""
    before = {name: answered(name) for name in ("standby", "primary")}
    yield
    more = {
        (name, why): count - before[name].get(why, 0)
        for name in before
        for why, count in answered(name).items()
        if count != before[name].get(why, 0)
    }
    assert more == {(server, reason): times}, more


def forget_positions() -> None:
    """Delete the positions of all clients in Redis, as if Redis had lost its data."""
    for key in floors._redis().scan_iter("exchange:read-floor:*"):
        floors._redis().delete(key)

"""A second database alias for reads: of a real standby, or of the tests' own server as if it were one."""

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
    """Let reads use this alias, at the address of the primary unless another one is named."""
    options = {**connection.settings_dict["OPTIONS"]}
    options["options"] = f"{options.get('options', '')} {READ_ONLY}"
    connections.settings[alias] = {**connection.settings_dict, "OPTIONS": options, **address}
    standby = connections[alias]

    def connect() -> None:
        """Connect without the check that a test has named all its aliases before it begins."""
        if standby.connection is None:
            with standby.wrap_database_errors:
                standby.connect()

    setattr(standby, "ensure_connection", connect)  # noqa: B010 - it is a method
    forget_states()
    try:
        with override_settings(STANDBYS=[*settings.STANDBYS, alias]):
            yield
    finally:
        connections[alias].close()
        del connections[alias], connections.settings[alias]
        forget_states()


def forget_states() -> None:
    """Forget the known states of both servers, so that the next read asks them."""
    states._primary.clear()
    choosing._left_out.clear()
    floors._Doubt.until = 0.0


def answered(server: str) -> dict[str, float]:
    """Return how many reads a server has answered, by reason."""
    samples = [sample for family in reads.READS.collect() for sample in family.samples]
    return {
        sample.labels["reason"]: sample.value
        for sample in samples
        if sample.name.endswith("_total") and sample.labels["server"] == server
    }


@contextmanager
def answering(server: str, reason: str = "", times: int = 1) -> Iterator[None]:
    """Check that the reads of the block are answered by this server."""
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
    """Forget the positions of all clients, as a Redis that lost its data."""
    for key in floors._redis().scan_iter("exchange:read-floor:*"):
        floors._redis().delete(key)

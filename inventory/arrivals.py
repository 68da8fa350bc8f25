"""Stock that has arrived goes first to those who wait (contract 13).

Who waits is known to orders, which this app cannot import. So what serves them registers itself here, as
importers register with the pipeline. It is called after the commit; until then, and until it is done, nobody
else can take what is owed (`fulfillments.backorder_claims`). A call that is lost is made up for by a sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from django.db import transaction

Serve = Callable[[Collection[int] | None], None]
"""Serves those who wait for these variants; for any, where it is given None."""

_registered: list[Serve] = []


def register(serve: Serve) -> None:
    """Have this called whenever stock has arrived."""
    _registered.append(serve)


def stock_arrived(variant_ids: Collection[int] | None) -> None:
    """After the commit of this transaction, serve those who wait for these variants; None: for any."""
    for serve in _registered:
        transaction.on_commit(partial(serve, variant_ids), robust=True)

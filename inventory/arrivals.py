"""A registry of callbacks for arriving stock: backorders get it first (contract 13).

Backorders belong to `orders`, which this app cannot import. Therefore `orders` registers its callback here,
as importers register with the pipeline. The callback runs after the commit. Until it has finished, new
orders cannot take the units that backorders are waiting for (`fulfillments.backorder_claims`). A periodic
task repeats lost calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from fastdb.after_commit import call_after_commit

ArrivalCallback = Callable[[Collection[int] | None], None]
"""Allocates arrived stock of these variants to backorders; None means all variants."""

_registered: list[ArrivalCallback] = []


def register(callback: ArrivalCallback) -> None:
    """Register a function to call when stock has arrived."""
    _registered.append(callback)


def stock_arrived(variant_ids: Collection[int] | None) -> None:
    """Run the callbacks for these variants (None: for all) after this transaction commits."""
    for callback in _registered:
        call_after_commit(callback, variant_ids)

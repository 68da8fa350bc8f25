"""A registry of callbacks for arrived stock. Backorders get arrived stock before new orders (contract 13).

Backorders belong to `orders`, which this app cannot import. Therefore `orders` registers its callback here.
The callback runs after the commit. Even before it has finished, new orders cannot take the units that
backorders are waiting for (`fulfillments.stock_for_backorders`). A periodic task repeats lost calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from fastdb.after_commit import call_after_commit

ArrivalCallback = Callable[[Collection[int] | None], None]
"""A function that allocates arrived stock of these variants to backorders; None means all variants."""

_registered: list[ArrivalCallback] = []


def register(callback: ArrivalCallback) -> None:
    """Register a function to call when stock has arrived."""
    _registered.append(callback)


def stock_arrived(variant_ids: Collection[int] | None) -> None:
    """Call the registered functions for these variants after the commit; None means all variants."""
    for callback in _registered:
        call_after_commit(callback, variant_ids)

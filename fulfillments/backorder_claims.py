"""What is owed to those who wait for stock, so that nobody overtakes them (contract 13).

First come short pieces of lines that are routed to a place, then lines that no supplier has; within each the
older order. A line that was routed short because the stock was owed to the latter stands among them. Who is
about to take stock has locked its rows, and takes no more of them than those before it leave. So arrived
stock is theirs from the moment of its commit, whenever it is set aside for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from django.db import connection

from fulfillments.change import Change
from fulfillments.planning.candidates import Market, WaitingLine
from fulfillments.planning.routing import Want
from fulfillments.refusals import refusals_of
from inventory.arrivals import stock_arrived
from inventory.reservations import Stock, StockKey

ROUTED = """
    SELECT p.variant_id, f.warehouse_id, coalesce(sum(p.short) FILTER (WHERE NOT p.behind), 0),
           coalesce(sum(p.short) FILTER (WHERE NOT p.behind AND f.order_id < %(order)s), 0),
           coalesce(sum(p.short) FILTER (WHERE p.behind AND f.order_id < %(order)s), 0)
    FROM (
        SELECT fulfillment_id, variant_id, behind,
               quantity - shipped - rejected - canceled - reserved - cancel_requested AS short
        FROM fulfillments_fulfillmentline WHERE is_short AND variant_id = ANY(%(variants)s)
    ) p JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
    WHERE f.order_id <> %(order)s GROUP BY 1, 2
"""


@dataclass
class OwedToRouted:
    """Short pieces of other orders, by the stock row that they wait for."""

    by_all: Counter[StockKey] = field(default_factory=Counter)
    by_older: Counter[StockKey] = field(default_factory=Counter)
    behind: Counter[StockKey] = field(default_factory=Counter)  # of older ones, after what no supplier has


def owed_to_routed(variant_ids: Collection[int], order_id: int) -> OwedToRouted:
    """What other orders wait for where they are routed. One query."""
    owed = OwedToRouted()
    with connection.cursor() as cursor:
        cursor.execute(ROUTED, {"variants": [*variant_ids], "order": order_id})
        for variant, warehouse, by_all, by_older, behind in cursor.fetchall():
            stock_key = (variant, warehouse)
            owed.by_all[stock_key], owed.by_older[stock_key] = by_all, by_older
            owed.behind[stock_key] = behind
    return owed


def wants_of(lines: Sequence[WaitingLine]) -> list[Want]:
    """What lines that no supplier has want of whom, of whatever orders; nothing for what nobody may fill.

    What was refused for its address alone waits for an operator, not for stock.
    """
    if not lines:
        return []
    refusals = refusals_of(line.id for line in lines)
    wants = (
        Want(
            line.id,
            line.pieces - refusals[line.id].for_address,
            market.candidates(line, refusals[line.id].suppliers),
            frozenset(refusals[line.id].places),
        )
        for line, market in zip(lines, Market.of_each(lines), strict=True)
    )
    return [want for want in wants if want.quantity > 0 and want.candidates]


@dataclass
class Share:
    """What an order may take of each locked stock row, in pieces; and which rows it would have to share with
    lines that no supplier has.
    """

    left: dict[StockKey, int]
    contested: set[StockKey] = field(default_factory=set)


def share_of(change: Change, stock: Stock) -> Share:
    """What is there, less what is owed to others.

    A line that could be filled from several places counts at each of them, until it is served.
    """
    free = stock.availability()
    there = {variant for (variant, _), pieces in free.items() if pieces}
    if not there or not change.anybody_waits(there):
        return Share(free)
    routed = owed_to_routed(there, change.order_id)
    left = {stock_key: max(pieces - routed.by_all[stock_key], 0) for stock_key, pieces in free.items()}
    later = owed_to_unplaced(wants_of(change.lines_waiting(there)), free) + routed.behind
    contested = {stock_key for stock_key, pieces in left.items() if pieces and later[stock_key]}
    left |= {stock_key: max(left[stock_key] - later[stock_key], 0) for stock_key in contested}
    return Share(left, contested)


def share_of_new(change: Change, stock: Stock) -> Share:
    """The same for an order that is new, or looks again; those who are owed something are served then."""
    share = share_of(change, stock)
    owed = {key[0] for key, pieces in stock.availability().items() if pieces > share.left[key]}
    if owed:
        stock_arrived(owed)
    return share


def owed_to_unplaced(wants: Iterable[Want], stock_keys: Iterable[StockKey]) -> Counter[StockKey]:
    """How many pieces these wants could take of each of these stock rows."""
    rows: dict[int, list[StockKey]] = {}
    for stock_key in stock_keys:
        rows.setdefault(stock_key[0], []).append(stock_key)
    owed: Counter[StockKey] = Counter()
    for want in wants:
        for stock_key in sources(want, rows):
            owed[stock_key] += want.quantity
    return owed


def sources(want: Want, rows: dict[int, list[StockKey]]) -> set[StockKey]:
    """Of stock rows by variant, those that a want may be filled from."""
    return {
        stock_key
        for candidate in want.candidates
        for stock_key in rows.get(candidate.variant_id, ())
        if want.may_come_from(candidate, stock_key[1])
    }

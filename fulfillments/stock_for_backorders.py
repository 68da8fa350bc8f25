"""The stock that is left for backorders, so that no newer order gets it first (contract 13).

`fulfillments.stock_queue` says which backorder comes first. All code that reserves stock locks the stock
rows, and leaves the units for earlier backorders. So a newer order cannot take arrived stock even before the
stock is reserved for the backorders.
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
from fulfillments.stock_queue import AFTER_UNROUTED, BEFORE_UNROUTED, FIRST
from inventory.arrivals import stock_arrived
from inventory.reservations import Stock, StockKey

SHORT = "quantity - shipped - rejected - canceled - reserved - cancel_requested"
"""SQL of the units of a routed line that wait for stock."""


def short_lines(where: str) -> str:
    """Return a SELECT of the routed lines that wait for stock. The caller joins fulfillments to its rows."""
    return f"""
        SELECT id, fulfillment_id, variant_id, behind, {SHORT} AS short
        FROM fulfillments_fulfillmentline WHERE is_short AND {where}
    """  # noqa: S608 - built from constants


ROUTED = f"""
    SELECT p.variant_id, f.warehouse_id, coalesce(sum(p.short) FILTER (WHERE {FIRST}), 0),
           coalesce(sum(p.short) FILTER (WHERE {BEFORE_UNROUTED}), 0),
           coalesce(sum(p.short) FILTER (WHERE {AFTER_UNROUTED}), 0)
    FROM ({short_lines("variant_id = ANY(%(variants)s)")}) p
    JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
    WHERE f.order_id <> %(order)s GROUP BY 1, 2
"""  # noqa: S608 - built from constants


@dataclass
class Shortage:
    """Short units of other orders' routed lines, by stock row.

    Most of these lines get stock before unrouted lines (`fulfillments.stock_queue`). `of_all` has their short
    units, and `of_older` has the part of these units that belongs to older orders. The lines with the flag
    `behind` get stock after unrouted lines. `behind` has the short units of such lines in older orders.
    """

    of_all: Counter[StockKey] = field(default_factory=Counter)
    of_older: Counter[StockKey] = field(default_factory=Counter)
    behind: Counter[StockKey] = field(default_factory=Counter)


def shortage_by_stock_row(variant_ids: Collection[int], order_id: int) -> Shortage:
    """Return the short units of other orders' routed lines. Makes one query."""
    shortage = Shortage()
    with connection.cursor() as cursor:
        cursor.execute(ROUTED, {"variants": [*variant_ids], "order": order_id})
        for variant, warehouse, of_all, of_older, behind in cursor.fetchall():
            stock_key = (variant, warehouse)
            shortage.of_all[stock_key], shortage.of_older[stock_key] = of_all, of_older
            shortage.behind[stock_key] = behind
    return shortage


def wants_of(lines: Sequence[WaitingLine]) -> list[Want]:
    """Return the needed units and candidates of each unrouted line. Lines without candidates are left out.

    Units that were rejected for their address are left out too: they wait for an operator, not for stock.
    """
    if not lines:
        return []
    refusals = refusals_of(line.id for line in lines)
    wants = (
        Want(
            line.id,
            line.units - min(refusals[line.id].for_address, line.refused),
            market.candidates(line, refusals[line.id].suppliers),
            frozenset(refusals[line.id].warehouses),
        )
        for line, market in zip(lines, Market.of_each(lines), strict=True)
    )
    return [want for want in wants if want.quantity > 0 and want.candidates]


@dataclass
class StockLeft:
    """The units that an order may take of each stock row.

    `contested` has the rows with units that are left for unrouted lines of older orders, or for routed lines
    of older orders with the flag `behind`.
    """

    units: dict[StockKey, int]
    contested: set[StockKey] = field(default_factory=set)


def stock_left_for(change: Change, stock: Stock) -> StockLeft:
    """Return the available stock without the units that are left for earlier backorders.

    If several warehouses could fill an unrouted line, the units for this line are left at each of these
    warehouses.
    """
    available = stock.availability()
    in_stock = {variant for (variant, _), units in available.items() if units}
    if not in_stock or not change.has_waiting_lines(in_stock):
        return StockLeft(available)
    routed = shortage_by_stock_row(in_stock, change.order_id)
    left = {stock_key: max(units - routed.of_all[stock_key], 0) for stock_key, units in available.items()}
    later = unrouted_demand(wants_of(change.waiting_lines(in_stock)), available) + routed.behind
    contested = {stock_key for stock_key, units in left.items() if units and later[stock_key]}
    left |= {stock_key: max(left[stock_key] - later[stock_key], 0) for stock_key in contested}
    return StockLeft(left, contested)


def stock_left_for_new(change: Change, stock: Stock) -> StockLeft:
    """Return the result of `stock_left_for`, and request the allocation of the units left for backorders.

    The caller routes units of a new order, or routes rejected units again.
    """
    left = stock_left_for(change, stock)
    variants = {
        stock_key[0] for stock_key, units in stock.availability().items() if units > left.units[stock_key]
    }
    if variants:
        stock_arrived(variants)
    return left


def unrouted_demand(wants: Iterable[Want], stock_keys: Iterable[StockKey]) -> Counter[StockKey]:
    """Return the number of units that these wants could take from each stock row."""
    rows: dict[int, list[StockKey]] = {}
    for stock_key in stock_keys:
        rows.setdefault(stock_key[0], []).append(stock_key)
    demand: Counter[StockKey] = Counter()
    for want in wants:
        for stock_key in stock_rows_for(want, rows):
            demand[stock_key] += want.quantity
    return demand


def stock_rows_for(want: Want, rows: dict[int, list[StockKey]]) -> set[StockKey]:
    """Return the stock rows that a want may be filled from; `rows` are grouped by variant."""
    return {
        stock_key
        for candidate in want.candidates
        for stock_key in rows.get(candidate.variant_id, ())
        if want.may_come_from(candidate, stock_key[1])
    }

"""Allocation of arrived stock to one order: to its routed lines first, then to its unrouted lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from django.db.models.functions import Now

from fastdb.updates import update
from fulfillments.change import Change
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.models.quantities import order_items
from fulfillments.planning.routing import Want, WarehouseKey, plan
from fulfillments.services import create_fulfillments, lock_joinable, save_routing_decision
from fulfillments.stock_for_backorders import shortage_by_stock_row, stock_left_for, wants_of
from inventory.reservations import Cause, LockedStock, StockKey

ARRIVED = "stock arrived"
"""The reason of the stock movements, and the cause of the routing decision."""


def allocate_arrivals(change: Change) -> int:
    """Reserve the stock that an order may take now. Return the number of units.

    Leave the units for older backorders. The change must contain no moves: a move after this call would lock
    a fulfillment after the stock rows, but all other code locks fulfillments before stock rows. An order that
    gets no stock gets no event.
    """
    shorts = _lock_short_lines(change)
    wants = wants_of(change.own_waiting_lines())
    joinable = lock_joinable(change) if wants else {}
    variants = {line.variant_id for line in shorts}
    variants |= {candidate.variant_id for want in wants for candidate in want.candidates}
    if not variants:
        return 0
    stock = LockedStock.lock(variants, by=change.by)
    behind = [line for line in shorts if line.behind]
    units = _reserve_first(change, [line for line in shorts if not line.behind], stock)
    if wants or behind:
        available = stock_left_for(change, stock).units
        units += _reserve(change, behind, stock, available)
        units += _route(change, wants, stock, available, joinable)
    stock.save()
    return units


def _lock_short_lines(change: Change) -> list[FulfillmentLine]:
    """Lock the fulfillments with short lines of the order. Return the short lines."""
    lines = FulfillmentLine.objects.filter(fulfillment__order_id=change.order_id, is_short=True)
    lines = lines.order_by("pk").select_related("fulfillment")
    fulfillments = Fulfillment.objects.filter(pk__in={line.fulfillment_id for line in lines})
    list(fulfillments.order_by("pk").select_for_update(no_key=True).values_list("pk"))
    return list(lines)


def _reserve_first(change: Change, lines: Sequence[FulfillmentLine], stock: LockedStock) -> int:
    """Reserve stock for the lines of this order that have `behind=False`.

    Leave enough stock for such lines of older orders.
    """
    if not lines:
        return 0
    older = shortage_by_stock_row({line.variant_id for line in lines}, change.order_id).of_older
    available = {key: units - older[key] for key, units in stock.availability().items()}
    return _reserve(change, lines, stock, available)


def _reserve(
    change: Change, lines: Sequence[FulfillmentLine], stock: LockedStock, available: dict[StockKey, int]
) -> int:
    """Reserve the available units for the lines, in turn. Return the number of reserved units."""
    filled: dict[Fulfillment, list[dict[str, int]]] = {}
    for line in lines:
        fulfillment = line.fulfillment
        key = (line.variant_id, fulfillment.warehouse_id)
        wanted = min(line.backordered, max(available.get(key, 0), 0))
        reserved = stock.reserve(key, wanted, Cause(change.order_id, fulfillment.pk, ARRIVED))
        if reserved:
            available[key] -= reserved
            line.reserved += reserved
            filled.setdefault(fulfillment, []).append({"line": line.pk, "quantity": reserved})
    if filled:
        update(lines, ["reserved"])
        Fulfillment.objects.filter(pk__in=[fulfillment.pk for fulfillment in filled]).update(updated_at=Now())
    for fulfillment, items in filled.items():
        fulfillment.order_lines = {line.pk: line.order_line_id for line in lines}
        change.record("fulfillment.stock_arrived", fulfillment=fulfillment, data={"items": items})
    return sum(item["quantity"] for items in filled.values() for item in items)


def _route(
    change: Change,
    wants: list[Want],
    stock: LockedStock,
    available: dict[StockKey, int],
    joinable: Mapping[WarehouseKey, Fulfillment],
) -> int:
    """Route unrouted units to suppliers with stock. Return the number of routed units."""
    chosen = plan(wants, available, allow_short=False, joining=joinable.keys())
    if not chosen.allocations:
        return 0
    routed = _routed_units(wants, chosen.unfilled)
    change.note_routed(routed)
    change.record("order.stock_arrived", data={"items": order_items(routed)})
    create_fulfillments(change, chosen.allocations, stock, joinable)
    save_routing_decision(change, wants, chosen, available, cause=ARRIVED)
    return routed.total()


def _routed_units(wants: Sequence[Want], unfilled: dict[int, int]) -> Counter[int]:
    """Return the number of routed units by order line, without zeros."""
    routed = Counter({want.line: want.quantity - unfilled.get(want.line, 0) for want in wants})
    return +routed

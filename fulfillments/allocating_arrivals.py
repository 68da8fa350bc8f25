"""Giving an order what has arrived for it: to what is routed there first, then to what no supplier has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from django.db.models.functions import Now

from fastdb.updates import update
from fulfillments.backorder_claims import owed_to_routed, share_of, wants_of
from fulfillments.change import Change
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.models.quantities import order_items
from fulfillments.planning.routing import Place, Want, plan
from fulfillments.services import create_fulfillments, keep_reasons, lock_joinable
from inventory.reservations import Cause, LockedStock, StockKey

ARRIVED = "stock arrived"
"""Why it was set aside, as movements and routing decisions say it."""


def serve(change: Change) -> int:
    """Set aside for an order what it may have of what is in stock now; return the pieces.

    Those who wait before it keep theirs. Its change is for this alone: nothing was moved in it before, so
    locks are taken in their order. Where there is nothing for it, nothing is recorded.
    """
    shorts = _lock_short_lines(change)
    wants = wants_of(change.own_lines_waiting())
    joinable = lock_joinable(change) if wants else {}
    variants = {line.variant_id for line in shorts}
    variants |= {candidate.variant_id for want in wants for candidate in want.candidates}
    if not variants:
        return 0
    stock = LockedStock.lock(variants, by=change.by)
    behind = [line for line in shorts if line.behind]
    pieces = _fill_first(change, [line for line in shorts if not line.behind], stock)
    if wants or behind:
        left = share_of(change, stock).left
        pieces += _fill(change, behind, stock, left)
        pieces += _place(change, wants, stock, left, joinable)
    stock.save()
    return pieces


def _lock_short_lines(change: Change) -> list[FulfillmentLine]:
    """The order's lines that are routed and short; their fulfillments locked, and none that is finished."""
    lines = FulfillmentLine.objects.filter(fulfillment__order_id=change.order_id, is_short=True)
    lines = lines.order_by("pk").select_related("fulfillment")
    fulfillments = Fulfillment.objects.filter(pk__in={line.fulfillment_id for line in lines})
    list(fulfillments.order_by("pk").select_for_update(no_key=True).values_list("pk"))
    return list(lines)


def _fill_first(change: Change, lines: Sequence[FulfillmentLine], stock: LockedStock) -> int:
    """Set aside what arrived where the lines are routed, less what older orders wait for there."""
    if not lines:
        return 0
    owed = owed_to_routed({line.variant_id for line in lines}, change.order_id).by_older
    return _fill(
        change, lines, stock, {key: pieces - owed[key] for key, pieces in stock.availability().items()}
    )


def _fill(
    change: Change, lines: Sequence[FulfillmentLine], stock: LockedStock, left: dict[StockKey, int]
) -> int:
    """Set aside for the lines, in turn, what is left for them; return the pieces."""
    filled: dict[Fulfillment, list[dict[str, int]]] = {}
    for line in lines:
        fulfillment = line.fulfillment
        key = (line.variant_id, fulfillment.warehouse_id)
        wanted = min(line.owed, max(left.get(key, 0), 0))
        taken = stock.reserve(key, wanted, Cause(change.order_id, fulfillment.pk, ARRIVED))
        if taken:
            left[key] -= taken
            line.reserved += taken
            filled.setdefault(fulfillment, []).append({"line": line.pk, "quantity": taken})
    if filled:
        update(lines, ["reserved"])
        Fulfillment.objects.filter(pk__in=[each.pk for each in filled]).update(updated_at=Now())
    for fulfillment, items in filled.items():
        fulfillment.order_lines = {line.pk: line.order_line_id for line in lines}
        change.record("fulfillment.stock_arrived", fulfillment=fulfillment, data={"items": items})
    return sum(item["quantity"] for items in filled.values() for item in items)


def _place(
    change: Change,
    wants: list[Want],
    stock: LockedStock,
    left: dict[StockKey, int],
    joinable: Mapping[Place, Fulfillment],
) -> int:
    """Give what no supplier has to those that have stock for it; return the pieces."""
    chosen = plan(wants, left, allow_short=False, joining=joinable.keys())
    if not chosen.allocations:
        return 0
    placed = _placed(wants, chosen.unfilled)
    change.placed(placed)
    change.record("order.stock_arrived", data={"items": order_items(placed)})
    create_fulfillments(change, chosen.allocations, stock, joinable)
    keep_reasons(change, wants, chosen, left, cause=ARRIVED)
    return placed.total()


def _placed(wants: Sequence[Want], unfilled: dict[int, int]) -> Counter[int]:
    """How many pieces of each line have found a supplier."""
    placed = Counter({want.line: want.quantity - unfilled.get(want.line, 0) for want in wants})
    return +placed

"""The stock of the demo's market: first counts, weekly counts, and the movements of its orders."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from catalog.models import Variant
from inventory.models import MovementKind, StockLevel, StockMovement, Warehouse

FULL = 60
"""The units of each variant in each warehouse after a weekly count."""
WEEK = timedelta(days=7)


class Flow(NamedTuple):
    """A change of one stock level, by a count or by the units of a fulfillment."""

    moment: datetime
    variant_id: int
    warehouse_id: int
    kind: MovementKind
    on_hand_change: int
    reserved_change: int
    actor: str
    request_id: str = ""
    order_id: int | None = None
    fulfillment_id: int | None = None
    reason: str = ""


def write(
    goods: Iterable[tuple[Variant, Warehouse]], flows: list[Flow], begin: datetime, now: datetime
) -> None:
    """Save the stock levels and all their movements, with the balances after each movement."""
    balances: dict[tuple[int, int], list[int]] = {}
    counted: dict[tuple[int, int], datetime] = {}
    rows = []
    counts = [flow for variant, warehouse in goods for flow in _counts(variant, warehouse, begin, now)]
    for flow in sorted([*counts, *flows], key=lambda flow: flow.moment):
        stock = flow.variant_id, flow.warehouse_id
        balance = balances.setdefault(stock, [0, 0])
        change = flow.on_hand_change
        if flow.kind in (MovementKind.OPENING, MovementKind.COUNT):
            change, counted[stock] = FULL - balance[0], flow.moment
            if not change:
                continue
        balance[0] += change
        balance[1] += flow.reserved_change
        rows.append(_movement(flow, change, *balance))
    StockLevel.objects.bulk_create(
        StockLevel(
            variant_id=variant_id,
            warehouse_id=warehouse_id,
            on_hand=on_hand,
            reserved=reserved,
            counted_at=counted[variant_id, warehouse_id],
            stocked_at=counted[variant_id, warehouse_id],
        )
        for (variant_id, warehouse_id), (on_hand, reserved) in balances.items()
    )
    StockMovement.objects.bulk_create(rows, batch_size=2_000)


def _counts(variant: Variant, warehouse: Warehouse, begin: datetime, now: datetime) -> Iterable[Flow]:
    """Yield the opening count and the weekly counts of a variant in a warehouse."""
    moment, kind = begin, MovementKind.OPENING
    while moment < now:
        actor = f"system:demo ({warehouse.supplier.name})"
        yield Flow(moment, variant.pk, warehouse.pk, kind, 0, 0, actor)
        moment, kind = moment + WEEK, MovementKind.COUNT


def _movement(flow: Flow, change: int, on_hand: int, reserved: int) -> StockMovement:
    return StockMovement(
        occurred_at=flow.moment,
        variant_id=flow.variant_id,
        warehouse_id=flow.warehouse_id,
        kind=flow.kind,
        on_hand_change=change,
        reserved_change=flow.reserved_change,
        on_hand=on_hand,
        reserved=reserved,
        moved=change if flow.kind == MovementKind.SHIP else 0,
        actor=flow.actor,
        request_id=flow.request_id,
        order_id=flow.order_id,
        fulfillment_id=flow.fulfillment_id,
        reason=flow.reason,
    )

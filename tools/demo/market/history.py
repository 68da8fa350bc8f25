"""The past orders of the demo's market, written in bulk with their fulfillments, parcels and events.

The rows equal the rows that moves would have written, but with moments in the past. `manage.py reconcile`
finds no differences in them.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from django.db import connection
from django.db.models import Model

from accounts.models import Partnership, Retailer
from catalog.models import Variant
from events.models import Event
from fulfillments.deadlines import capture_due_at, due_at
from fulfillments.models import Capture, Fulfillment, FulfillmentLine, Return, RoutingDecision, Shipment
from fulfillments.states import ACCEPT, APPROVE_CANCELATION, REQUEST_CANCELATION, SHIP, State
from inventory.models import MovementKind, Warehouse
from orders.models import Order, OrderLine, RetailerClock
from orders.processing_state import FINISHED, STATE_EVENTS, ProcessingState
from tools.demo.market import cast, ledger
from tools.demo.market.ledger import Flow
from tools.demo.market.past import PastActor, PastOrder, PastWork, state_of
from tools.demo.market.plans import DAYS, PlannedOrder, PlannedWork

STEPS = {
    "accepted": (ACCEPT, State.ACCEPTED),
    "shipped": (SHIP, State.SHIPPED),
    "cancel_requested": (REQUEST_CANCELATION, State.CANCELING),
    "canceled": (APPROVE_CANCELATION, State.CANCELED),
}
NAMES = [supplier.name for supplier in cast.SUPPLIERS]
FLOWS = {State.SHIPPED: MovementKind.SHIP, State.CANCELED: MovementKind.RELEASE}


class History:
    """The past orders of the market, and the rows that belong to them."""

    def __init__(self, orders: list[PlannedOrder], now: datetime) -> None:
        self._now = now
        self._random = Random(len(orders))  # noqa: S311 - repeatable request ids
        self._retailers = {row.name: row for row in Retailer.objects.all()}
        partnerships = Partnership.objects.select_related("retailer", "supplier")
        self._partnerships = {(row.retailer.name, row.supplier.name): row for row in partnerships}
        warehouses = Warehouse.objects.filter(supplier__name__in=NAMES).select_related("supplier")
        self._warehouses = {(row.supplier.name, row.name): row for row in warehouses}
        variants = Variant.objects.filter(supplier__name__in=NAMES).select_related("supplier")
        self._variants = {(row.supplier.name, row.sku): row for row in variants}
        self._rows: dict[type[Model], list[Any]] = {}
        self._flows: list[Flow] = []
        self._stamps: set[tuple[str, datetime]] = set()
        self._orders = [self._order(plan) for plan in orders]

    def write(self) -> None:
        """Save all rows. Rows to which other rows refer are saved first."""
        works = [work for order in self._orders for work in order.works]
        lines = [line for work in works for line in work.lines]
        _save([order.row for order in self._orders])
        _save([line.order_line for line in lines])
        _save([work.row for work in works])
        _save(lines)
        for order in self._orders:
            self._tell(order)
        # Save the events by time, because their ids define their order in the feed.
        self._rows[Event].sort(key=lambda event: event.occurred_at)
        for rows in self._rows.values():
            _save(rows)
        goods = [
            (variant, warehouse)
            for (supplier, _), variant in self._variants.items()
            for (owner, _), warehouse in self._warehouses.items()
            if owner == supplier
        ]
        ledger.write(goods, self._flows, self._now - timedelta(days=DAYS + 1), self._now)
        self._set_clocks()

    # --- Rows with the present state of an order -----------------------------------------------------

    def _order(self, plan: PlannedOrder) -> PastOrder:
        row = Order(
            retailer=self._retailers[plan.retailer],
            retailer_order_id=plan.number,
            sales_order_number=f"W{plan.number[3:]}",
            billing_address=plan.address,
            shipping_address=plan.address,
            shipping_method_code="GROUND",
            content_digest=hashlib.sha256(plan.number.encode()).hexdigest(),
            created_at=plan.created_at,
        )
        order = PastOrder(plan, row)
        for work in plan.works:
            order.works.append(self._work(order, work))
        lines = (line.order_line for work in order.works for line in work.lines)
        row.billed_total = sum((line.billed_amount or Decimal() for line in lines), Decimal())
        states = [work.row.state for work in order.works]
        row.processing_state = state_of(states)
        row.updated_at = self._stamp(plan)
        return order

    def _stamp(self, plan: PlannedOrder) -> datetime:
        """Return the time of the last change in whole milliseconds, unique among the retailer's orders."""
        last = max(_last_moment(work) for work in plan.works)
        stamp = last.replace(microsecond=last.microsecond // 1000 * 1000)
        while (plan.retailer, stamp) in self._stamps:
            stamp += timedelta(milliseconds=1)
        self._stamps.add((plan.retailer, stamp))
        return stamp

    def _work(self, order: PastOrder, plan: PlannedWork) -> PastWork:
        partnership = self._partnerships[order.plan.retailer, plan.supplier]
        last, step = plan.steps[-1] if plan.steps else (plan.created_at, "")
        state = STEPS[step][1] if step else State.NEW
        row = Fulfillment(
            order=order.row,
            supplier=partnership.supplier,
            partnership=partnership,
            warehouse=self._warehouses[plan.supplier, plan.warehouse],
            state=state,
            state_before_cancel=State.NEW if state == State.CANCELING else "",
            due_at=due_at(state, last, partnership, None),
            capture_due_at=capture_due_at(plan.created_at, partnership),
            created_at=plan.created_at,
            updated_at=last,
        )
        work = PastWork(plan, row)
        position = sum(len(earlier.lines) for earlier in order.works)
        for offset, line in enumerate(plan.lines):
            work.lines.append(self._line(order.row, work, position + offset, line.sku, line.quantity))
        row.agreed_total = sum(
            ((line.wholesale_price or Decimal()) * line.quantity for line in work.lines), Decimal()
        )
        return work

    def _line(self, order: Order, work: PastWork, position: int, sku: str, quantity: int) -> FulfillmentLine:
        state, variant = work.row.state, self._variants[work.plan.supplier, sku]
        shipped = quantity if state == State.SHIPPED else 0
        canceled = quantity if state == State.CANCELED else 0
        counts = {
            "reserved": quantity - shipped - canceled,
            "shipped": shipped,
            "canceled": canceled,
            "returned": 1 if work.plan.returned_at and position == 0 else 0,
        }
        ordered = OrderLine(
            order=order,
            position=position,
            sku=sku,
            title=variant.title,
            quantity=quantity,
            billed_amount=variant.retail_price * quantity,
            open=counts["reserved"],
            **counts,
        )
        return FulfillmentLine(
            fulfillment=work.row,
            order_line=ordered,
            variant=variant,
            sku=sku,
            upc=variant.upc,
            title=variant.title,
            wholesale_price=variant.wholesale_price,
            quantity=quantity,
            cancel_requested=quantity if state == State.CANCELING else 0,
            **counts,
        )

    # --- Rows with the history of an order ----------------------------------------------------------

    def _tell(self, order: PastOrder) -> None:
        """Add the events, parcels and stock movements of a saved order."""
        pushed = self._by(order.plan.retailer, order.plan.created_at)
        number = {"retailer_order_id": order.plan.number}
        self._event("order.created", order, pushed, data=number)
        decided = [self._decision(line, work) for work in order.works for line in work.lines]
        cause = {"cause": "order.created", "decided_at": pushed.moment}
        self._add(RoutingDecision(order=order.row, lines=decided, **cause))
        for work in order.works:
            self._event("fulfillment.created", order, pushed, work)
            self._move_stock(work, MovementKind.RESERVE, pushed)
            if work.plan.captured_at:
                self._add(Capture(fulfillment=work.row, captured_at=work.plan.captured_at))
        self._tell_steps(order)
        for work in order.works:
            self._tell_return(order, work)

    def _tell_steps(self, order: PastOrder) -> None:
        states = {work.row.pk: State.NEW for work in order.works}
        taken = sorted(
            (moment, position, step)
            for position, work in enumerate(order.works)
            for moment, step in work.plan.steps
        )
        for moment, position, step in taken:
            work = order.works[position]
            move, target = STEPS[step]
            by = self._by(order.plan.retailer if step == "cancel_requested" else work.plan.supplier, moment)
            moved = {"from_state": states[work.row.pk], "to_state": target}
            self._event(move.event, order, by, work, data=self._data(work, step, moment), **moved)
            if kind := FLOWS.get(target):
                self._move_stock(work, kind, by)
            before = state_of([*states.values()])
            states[work.row.pk] = target
            self._tell_state(order, before, state_of([*states.values()]), by)

    def _tell_state(
        self, order: PastOrder, before: ProcessingState, state: ProcessingState, by: PastActor
    ) -> None:
        if state != before and state in STATE_EVENTS:
            data = {"previous_state": before, "processing_state": state}
            self._event(STATE_EVENTS[state], order, by, from_state=before, to_state=state, data=data)

    def _data(self, work: PastWork, step: str, moment: datetime) -> dict[str, Any]:
        if step == "accepted":
            return {"tracking_number": ""}
        if step == "shipped":
            parcel = {"tracking_number": work.tracking_number, "carrier": "UPS"}
            self._add(Shipment(fulfillment=work.row, shipped_at=moment, items=work.items, **parcel))
            return {**parcel, "items": work.items_of_order}
        if step == "cancel_requested":
            reason = "The customer ordered the wrong item."
            return {"items": work.items_of_order, "added": work.items_of_order, "reason": reason}
        return {"items": work.items_of_order}

    def _tell_return(self, order: PastOrder, work: PastWork) -> None:
        items = [{"line": line.pk, "quantity": line.returned} for line in work.lines if line.returned]
        if work.plan.returned_at and items:
            fields: dict[str, Any] = {"reason": "Does not fit", "items": items}
            self._add(Return(fulfillment=work.row, returned_at=work.plan.returned_at, **fields))
            by = self._by(work.plan.supplier, work.plan.returned_at)
            self._event("fulfillment.returned", order, by, work, data=fields)

    def _by(self, party: str, moment: datetime) -> PastActor:
        return PastActor(f"system:demo ({party})", f"{self._random.getrandbits(128):032x}", moment)

    def _event(
        self, name: str, order: PastOrder, by: PastActor, work: PastWork | None = None, **fields: Any
    ) -> None:
        self._add(
            Event(
                type=name,
                area="fulfillments" if work else "orders",
                actor=by.name,
                request_id=by.request_id,
                occurred_at=by.moment,
                order_id=order.row.pk,
                fulfillment_id=work.row.pk if work else None,
                supplier=work.row.supplier if work else None,
                retailer=order.row.retailer,
                **fields,
            )
        )

    def _move_stock(self, work: PastWork, kind: MovementKind, by: PastActor) -> None:
        for line in work.lines:
            self._flows.append(
                Flow(
                    by.moment,
                    line.variant_id,
                    work.row.warehouse_id,
                    kind,
                    on_hand_change=-line.quantity if kind == MovementKind.SHIP else 0,
                    reserved_change=line.quantity if kind == MovementKind.RESERVE else -line.quantity,
                    actor=by.name,
                    request_id=by.request_id,
                    order_id=work.row.order_id,
                    fulfillment_id=work.row.pk,
                    reason=work.tracking_number if kind == MovementKind.SHIP else "",
                )
            )

    def _decision(self, line: FulfillmentLine, work: PastWork) -> dict[str, Any]:
        chosen = {
            "supplier_id": work.row.supplier_id,
            "variant_id": line.variant_id,
            "warehouse_id": work.row.warehouse_id,
            "available": ledger.FULL,
            "cost": str(line.wholesale_price),
            "priority": work.row.supplier.priority,
            "quantity": line.quantity,
            "reserved": line.quantity,
            "reason": f"Chosen for {line.quantity} of {line.quantity}, all in stock.",
        }
        about = {"line_id": line.order_line_id, "quantity": line.quantity, "unfilled": 0}
        return {**about, "candidates": [chosen]}

    def _add(self, row: Model) -> None:
        self._rows.setdefault(type(row), []).append(row)

    def _set_clocks(self) -> None:
        for retailer in {order.row.retailer for order in self._orders}:
            states = [order.row.processing_state for order in self._orders if order.row.retailer == retailer]
            finished = {str(state): states.count(state) for state in FINISHED}
            counts = {**finished, "pending": len(states) - sum(finished.values())}
            RetailerClock.objects.update_or_create(retailer=retailer, defaults={"last": self._now, **counts})


def _last_moment(work: PlannedWork) -> datetime:
    moments = [moment for moment, _ in work.steps]
    return max([work.created_at, *moments, *([work.returned_at] if work.returned_at else [])])


def _save(rows: list[Any]) -> None:
    if not rows:
        return
    model = type(rows[0])
    model._default_manager.bulk_create(rows, batch_size=2_000)
    with connection.cursor() as cursor:  # the planner needs statistics before autovacuum runs
        cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")

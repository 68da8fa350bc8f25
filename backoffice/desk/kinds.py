"""What kinds of waiting there are. Each finds its rows by an index that knows few of all rows."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Supplier
from backoffice.desk.feeds import stale_feeds
from backoffice.desk.items import Kind, end_of
from fulfillments.deadlines import next_due_at
from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.admin_filters import RecentlyFailedFilter
from imports.models import ImportJob, Status
from inventory.admin_filters import OverpromisedFilter
from inventory.models import StockLevel
from orders.admin_filters import HeldFilter, UnknownCountryFilter, WaitingFilter
from orders.models import Order, OrderLine
from orders.processing_state import ProcessingState

ANSWERS = (("approve-cancelation", "Approve"), ("refuse-cancelation", "Refuse"))
LATE = {
    State.NEW: "should have been accepted",
    State.CANCELATION_NOT_ALLOWED: "should have been accepted",
    State.ACCEPTED: "should have been shipped",
    State.CANCELING: "should have been answered",
}


def _orders() -> QuerySet[Order]:
    return Order.objects.select_related("retailer")


def _refused() -> QuerySet[Order]:
    refused = OrderLine.objects.filter(order=OuterRef("pk"), rejected__gt=0)
    orders = _orders().filter(Exists(refused), processing_state=ProcessingState.EXCEPTION)
    return orders.prefetch_related("lines")


def _order(order: Order, what: str) -> dict[str, Any]:
    return {
        "title": order.retailer_order_id,
        "parties": str(order.retailer),
        "what": what,
        "since": order.updated_at,
        "due_at": end_of(order.ship_until),
        "order_id": order.pk,
    }


def _read_refused(order: Order) -> dict[str, Any]:
    lines = [line for line in order.lines.all() if line.rejected]
    named = ", ".join(f"{line.rejected} × {line.sku or line.upc or line.title}" for line in lines[:3])
    return _order(order, f"Nobody has {named}{', …' if len(lines) > 3 else ''}")


def _fulfillments() -> QuerySet[Fulfillment]:
    return Fulfillment.objects.select_related("order__retailer", "supplier", "warehouse", "capture")


def _fulfillment(work: Fulfillment, what: str) -> dict[str, Any]:
    captured = getattr(work, "capture", None) is not None
    due_at = next_due_at(work.state, work.due_at, work.capture_due_at, captured=captured)
    return {
        "title": work.order.retailer_order_id,
        "parties": f"{work.supplier} for {work.order.retailer}",
        "what": what,
        "since": work.updated_at,
        "due_at": due_at or end_of(work.order.ship_until),
        "order_id": work.order_id,
    }


def _read_address(work: Fulfillment) -> dict[str, Any]:
    address = work.order.shipping_address
    parts = ("address1", "address2", "zip_code", "city", "state", "country")
    return _fulfillment(work, " ".join(str(address[part]) for part in parts if address.get(part)))


def _read_late(work: Fulfillment) -> dict[str, Any]:
    uncaptured = work.state == State.NEW and getattr(work, "capture", None) is None
    late_capture = uncaptured and work.capture_due_at is not None
    what = "should have been captured" if late_capture else LATE.get(State(work.state), "is late")
    return _fulfillment(work, f"Fulfillment {work.pk} {what}")


def _read_line(line: OrderLine) -> dict[str, Any]:
    missing = line.open - line.reserved + line.waiting
    what = f"{missing} × {line.sku or line.upc or line.asked_variant_id} without stock"
    return {**_order(line.order, what), "since": line.waiting_since}


def _read_stock(level: StockLevel) -> dict[str, Any]:
    return {
        "title": level.variant.sku,
        "parties": f"{level.warehouse.supplier}, {level.warehouse}",
        "what": f"{level.reserved} promised, {level.on_hand} there",
        "since": level.counted_at,
    }


def _read_import(job: ImportJob) -> dict[str, Any]:
    said = job.error["message"] if job.error else " ".join(job.report.get("reasons", ()))
    return {
        "title": f"{job.kind}: {job.source or 'sent as data'}",
        "parties": str(job.supplier),
        "what": said[:200],
        "since": job.created_at,
    }


def _read_feed(supplier: Any) -> dict[str, Any]:
    return {
        "title": supplier.name,
        "parties": supplier.name,
        "what": "No change of stock by push, and no stock file, for two days",
        "since": supplier.heard_at,
    }


def _imports(*statuses: Status) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(status__in=statuses).select_related("supplier")


# The more that can be done about it, the further up: an order that waits for several stands under the first.
KINDS = (
    Kind(
        "address",
        "Wrong address",
        Fulfillment,
        lambda: _fulfillments().filter(state=State.WRONG_ADDRESS),
        _read_address,
        "supplier",
        "updated_at",
        actions=(("correct-address", "Correct address"), ("give-up", "Cancel")),
    ),
    Kind(
        "nobody",
        "Nobody fills it",
        Order,
        _refused,
        _read_refused,
        "fulfillments__supplier",
        "updated_at",
        actions=(("route-again", "Route again"), ("drop-refused", "Cancel it")),
    ),
    Kind(
        "silent",
        "Cancellation unanswered",
        Fulfillment,
        lambda: _fulfillments().filter(state=State.CANCELING),
        lambda work: _fulfillment(work, f"{work.supplier} has not said whether it lets it go"),
        "supplier",
        "updated_at",
        actions=ANSWERS,
    ),
    Kind(
        "overdue",
        "Overdue",
        Fulfillment,
        lambda: _fulfillments() & Fulfillment.objects.overdue().exclude(state=State.CANCELING),
        _read_late,
        "supplier",
        "updated_at",
        order=("due_at", "id"),
        actions=(("withdraw", "Send elsewhere"), ("request-cancelation", "Ask back")),
    ),
    Kind(
        "country",
        "Unknown country",
        Order,
        lambda: UnknownCountryFilter.narrow(_orders()),
        lambda order: _order(order, str(order.shipping_address.get("country", ""))),
        "fulfillments__supplier",
        "updated_at",
        actions=(("correct-address", "Correct address"),),
    ),
    Kind(
        "held",
        "Held",
        Order,
        lambda: HeldFilter.narrow(_orders()),
        lambda order: _order(order, "Its suppliers wait for your release"),
        "fulfillments__supplier",
        "updated_at",
        actions=(("release", "Release"), ("cancel", "Cancel order")),
    ),
    Kind(
        "waiting",
        "Waiting for stock",
        OrderLine,
        lambda: WaitingFilter.narrow(OrderLine.objects.select_related("order__retailer")).filter(
            Q(waiting__gt=0) | Q(open__gt=0)
        ),
        _read_line,
        "fulfillment_lines__fulfillment__supplier",
        "waiting_since",
    ),
    Kind(
        "overpromised",
        "Over-promised stock",
        StockLevel,
        lambda: OverpromisedFilter.narrow(
            StockLevel.objects.select_related("variant", "warehouse__supplier")
        ),
        _read_stock,
        "warehouse__supplier",
        "counted_at",
    ),
    Kind(
        "import",
        "Import to approve",
        ImportJob,
        lambda: _imports(Status.AWAITING_APPROVAL),
        _read_import,
        "supplier",
        "created_at",
        actions=(("approve", "Approve"), ("cancel", "Cancel import"), ("message", "Message")),
    ),
    Kind(
        "failed",
        "Import failed",
        ImportJob,
        lambda: RecentlyFailedFilter.narrow(_imports(Status.FAILED)),
        _read_import,
        "supplier",
        "created_at",
        actions=(("retry", "Retry"), ("message", "Message")),
    ),
    Kind("feed", "Stock not heard of", Supplier, stale_feeds, _read_feed, "pk", "heard_at"),
)

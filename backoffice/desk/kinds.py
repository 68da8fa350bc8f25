"""What kinds of waiting there are. Each finds its rows by an index that knows few of all rows."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from accounts.models import Supplier
from backoffice.desk.feeds import stale_feeds
from backoffice.desk.items import Kind
from backoffice.desk.parts import silent_parts
from backoffice.desk.receivers import dead_webhooks
from backoffice.models import ServicePart
from events.models import Webhook
from fulfillments.models import HELD, Fulfillment
from fulfillments.states import State
from imports.admin_filters import RecentlyFailedFilter
from imports.models import ImportJob, Status
from inventory.admin_filters import OverpromisedFilter
from inventory.models import StockLevel
from orders.admin.filters import HeldFilter, UnknownCountryFilter, WaitingFilter
from orders.models import Order, OrderLine
from orders.processing_state import FINISHED, ProcessingState

ANSWERS = (("approve-cancelation", "Approve"), ("refuse-cancelation", "Refuse"))
SEND_OR_ASK = (("withdraw", "Send elsewhere"), ("request-cancelation", "Ask back"))
LATE = {
    State.NEW: "should have been accepted",
    State.CANCELATION_NOT_ALLOWED: "should have been accepted",
    State.ACCEPTED: "should have been shipped",
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
    }


def _read_refused(order: Order) -> dict[str, Any]:
    lines = [line for line in order.lines.all() if line.rejected]
    named = ", ".join(f"{line.rejected} × {line.sku or line.upc or line.title}" for line in lines[:3])
    return _order(order, f"Nobody has {named}{', …' if len(lines) > 3 else ''}")


def _fulfillments() -> QuerySet[Fulfillment]:
    return Fulfillment.objects.select_related("order__retailer", "supplier")


def _fulfillment(work: Fulfillment, what: str) -> dict[str, Any]:
    return {
        "title": work.order.retailer_order_id,
        "parties": f"{work.supplier} for {work.order.retailer}",
        "what": what,
    }


def _read_address(work: Fulfillment) -> dict[str, Any]:
    address = work.order.shipping_address
    parts = ("address1", "address2", "zip_code", "city", "state", "country")
    return _fulfillment(work, " ".join(str(address[part]) for part in parts if address.get(part)))


def _late() -> QuerySet[Fulfillment]:
    return _fulfillments().filter(due_at__lte=Now()).exclude(HELD).exclude(state=State.CANCELING)


def _uncaptured() -> QuerySet[Fulfillment]:
    late = Q(capture_due_at__lte=Now(), state=State.NEW, capture=None)
    return _fulfillments().filter(late, order__held=False)


def _read_late(work: Fulfillment) -> dict[str, Any]:
    return _fulfillment(work, f"Fulfillment {work.pk} {LATE.get(State(work.state), 'is late')}")


def _short() -> QuerySet[Order]:
    """Open orders with lines that wait; what nobody fills at all is another kind."""
    lines = WaitingFilter.narrow(OrderLine.objects.filter(order=OuterRef("pk"))).order_by()
    waiting = lines.filter(Q(waiting__gt=0) | Q(open__gt=0))
    orders = _orders().filter(Exists(waiting)).exclude(processing_state__in=FINISHED)
    since = waiting.values("order").annotate(first=Min("waiting_since")).values("first")
    return orders.annotate(waits_since=Subquery(since)).prefetch_related("lines")


def _read_short(order: Order) -> dict[str, Any]:
    lines = [line for line in order.lines.all() if line.waiting_since and (line.waiting or line.open)]
    named = ", ".join(f"{line.open - line.reserved + line.waiting} × {line.name}" for line in lines[:3])
    return _order(order, f"{named}{', …' if len(lines) > 3 else ''} without stock")


def _read_stock(level: StockLevel) -> dict[str, Any]:
    return {
        "title": level.variant.sku,
        "parties": f"{level.warehouse.supplier}, {level.warehouse}",
        "what": f"{level.reserved} promised, {level.on_hand} there",
    }


def _read_import(job: ImportJob) -> dict[str, Any]:
    said = job.error["message"] if job.error else " ".join(job.report.get("reasons", ()))
    return {
        "title": f"{job.kind}: {job.source or 'sent as data'}",
        "parties": str(job.supplier),
        "what": said[:200],
    }


def _read_feed(supplier: Any) -> dict[str, Any]:
    return {
        "title": supplier.name,
        "parties": supplier.name,
        "what": "No stock by push or file for two days",
    }


def _imports(*statuses: Status) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(status__in=statuses).select_related("supplier")


def _read_webhook(webhook: Any) -> dict[str, Any]:
    down = f"Its receiver takes nothing: {webhook.last_error}" if webhook.is_down else ""
    dead = "Events were given up after 72 hours." if webhook.has_dead else ""
    return {"title": webhook.url, "parties": str(webhook.party), "what": f"{down} {dead}".strip()}


def _read_part(part: ServicePart) -> dict[str, Any]:
    return {
        "title": str(part),
        "parties": "The service",
        "what": "It has given no sign of life for longer than it may. Look at its host and its log.",
    }


WORK = partial(
    Kind, model=Fulfillment, supplier="supplier", since="updated_at", due="due_at", order="order_id"
)
ORDER = partial(Kind, model=Order, since="updated_at", due="ship_until", is_day=True, order="pk")

# The more that can be done about it, the further up: an order that waits for several stands under the first.
KINDS = (
    WORK(
        "address",
        "Wrong address",
        rows=lambda: _fulfillments().filter(state=State.WRONG_ADDRESS),
        read=_read_address,
        due="order__ship_until",
        is_day=True,
        actions=(("correct-address", "Correct address"), ("give-up", "Cancel")),
    ),
    ORDER(
        "nobody",
        "Nobody fills it",
        rows=_refused,
        read=_read_refused,
        actions=(("route-again", "Route again"), ("drop-refused", "Cancel it")),
    ),
    WORK(
        "silent",
        "Cancellation unanswered",
        rows=lambda: _fulfillments().filter(state=State.CANCELING),
        read=lambda work: _fulfillment(work, f"{work.supplier} has not said whether it lets it go"),
        actions=ANSWERS,
    ),
    WORK("overdue", "Overdue", rows=_late, read=_read_late, always_due=True, actions=SEND_OR_ASK),
    WORK(
        "uncaptured",
        "Not captured in time",
        rows=_uncaptured,
        read=lambda work: _fulfillment(work, f"Fulfillment {work.pk} should have been captured"),
        due="capture_due_at",
        always_due=True,
        actions=SEND_OR_ASK,
    ),
    ORDER(
        "country",
        "Unknown country",
        rows=lambda: UnknownCountryFilter.narrow(_orders()),
        read=lambda order: _order(order, str(order.shipping_address.get("country", ""))),
        actions=(("correct-address", "Correct address"),),
    ),
    ORDER(
        "held",
        "Held",
        rows=lambda: HeldFilter.narrow(_orders()),
        read=lambda order: _order(order, "Its suppliers wait for your release"),
        actions=(("release", "Release"), ("cancel", "Cancel order")),
    ),
    ORDER(
        "waiting",
        "Waiting for stock",
        rows=_short,
        read=_read_short,
        since="waits_since",
        actions=(("cancel", "Cancel order"),),
    ),
    Kind(
        "overpromised",
        "Over-promised stock",
        StockLevel,
        lambda: OverpromisedFilter.narrow(
            StockLevel.objects.select_related("variant", "warehouse__supplier")
        ),
        _read_stock,
        supplier="warehouse__supplier",
        since="counted_at",
        actions=(("count", "Count"), ("adjust", "Adjust")),
    ),
    Kind(
        "import",
        "Import to approve",
        ImportJob,
        lambda: _imports(Status.AWAITING_APPROVAL),
        _read_import,
        supplier="supplier",
        since="created_at",
        actions=(("approve", "Approve"), ("cancel", "Cancel import"), ("message", "Message")),
    ),
    Kind(
        "failed",
        "Import failed",
        ImportJob,
        lambda: RecentlyFailedFilter.narrow(_imports(Status.FAILED)),
        _read_import,
        supplier="supplier",
        since="created_at",
        actions=(("retry", "Retry"), ("message", "Message")),
    ),
    Kind("feed", "Stock not heard of", Supplier, stale_feeds, _read_feed, supplier="pk", since="heard_at"),
    Kind(
        "webhook",
        "Dead webhook",
        Webhook,
        dead_webhooks,
        _read_webhook,
        supplier="supplier",
        since="waits_since",
        actions=(("test", "Send a test"), ("resend_dead", "Send dead ones again")),
    ),
    Kind(
        "part",
        "Silent part of the service",
        ServicePart,
        silent_parts,
        _read_part,
        supplier="of_supplier",
        since="heard_at",
        actions=(("taken-away", "It was taken away"),),
    ),
)

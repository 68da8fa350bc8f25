"""Queries of a supplier's fulfillments for its pages. The lists leave out held orders, as the API does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now, TruncDay

from accounts.models import Retailer, Supplier
from api.ids import as_id
from api.prefix_search import begins
from events.models import Event
from events.timeline import HistoryEntry, newest
from fulfillments.models import UNCAPTURED, Fulfillment, Shipment
from fulfillments.states import State
from portal.history import history_of
from portal.late import LATE, TO_ANSWER, is_late

MOST_FOUND = 200

TO_SHIP = Q(state__in=(State.ACCEPTED, State.CANCELATION_NOT_ALLOWED))
MIDNIGHT = TruncDay(Now(), tzinfo=UTC) + timedelta(days=1)
TABS: dict[str, tuple[str, Q]] = {
    "open": ("Open", Q(state__in=TO_ANSWER)),
    "new": ("New", Q(state=State.NEW)),
    "accepted": ("To ship", TO_SHIP),
    "today": ("To ship today", TO_SHIP & Q(due_at__lte=MIDNIGHT)),
    "late": ("Late", LATE),
    "canceling": ("Cancellations", Q(state=State.CANCELING)),
    "shipped": ("Shipped", Q(state=State.SHIPPED)),
    "all": ("All", Q()),
}
"""The tabs of the list: the label and the condition of each."""
NEW_ORDERS = "New orders appear here as soon as a retailer sends them."
EMPTY = {
    "open": NEW_ORDERS,
    "new": NEW_ORDERS,
    "accepted": "No accepted order waits to be shipped.",
    "today": "No order has to be shipped today.",
    "late": "No order is late.",
    "canceling": "No cancellation waits for your answer.",
    "shipped": "No order is shipped yet.",
    "all": NEW_ORDERS,
}
"""The text of each tab without orders."""
RETAILER = "retailer"
"""The URL parameter that limits pages to the orders of one retailer."""


def fulfillments_of(supplier: Supplier) -> QuerySet[Fulfillment]:
    """Return the supplier's fulfillments with the relations that pages show and actions read."""
    own = Fulfillment.objects.for_supplier(supplier).not_held()
    related = own.select_related("order__retailer", "partnership", "supplier", "warehouse", "capture")
    return related.prefetch_related("lines")


def most_urgent(work: QuerySet[Fulfillment], most: int) -> list[Fulfillment]:
    """Return the fulfillments whose next limit ends first. Each limit has its own index."""
    uncaptured = work.filter(UNCAPTURED, capture_due_at__isnull=False)
    by_limit = (work.order_by("due_at", "pk"), uncaptured.order_by("capture_due_at", "pk"))
    ids = [pk for rows in by_limit for pk in rows.values_list("pk", flat=True)[:most]]
    return sorted(work.filter(pk__in=ids), key=_next_limit)[:most]


def _next_limit(fulfillment: Fulfillment) -> tuple[bool, datetime | None, int]:
    """Return the key that sorts fulfillments without a limit last."""
    due = fulfillment.next_due_at
    return due is None, due, fulfillment.pk


def partner_of(supplier: Supplier, text: str) -> Retailer | None:
    """Return the retailer that the URL parameter names, or None for all retailers."""
    number = as_id(text)
    partners = Retailer.objects.filter(partnerships__supplier=supplier)
    return partners.filter(pk=number).first() if number else None


def found(supplier: Supplier, term: str) -> Q:
    """Return the condition that finds fulfillments by order number, fulfillment id or tracking number."""
    retailers = [*supplier.partnerships.values_list("retailer_id", flat=True)]
    own = Fulfillment.objects.for_supplier(supplier)
    of_order = own.filter(order__retailer_order_id=term, order__retailer__in=retailers)
    parcels = Shipment.objects.filter(begins("tracking_number", term), fulfillment__supplier=supplier)
    ids = {
        *of_order.values_list("pk", flat=True)[:MOST_FOUND],
        *parcels.values_list("fulfillment_id", flat=True)[:MOST_FOUND],
    }
    number = int(term) if term.isascii() and term.isdecimal() and len(term) < 19 else 0
    return Q(pk__in=[number, *ids])


@dataclass(frozen=True)
class WorkRow:
    """A fulfillment in a list, and whether it is late."""

    fulfillment: Fulfillment
    is_late: bool

    @classmethod
    def of(cls, fulfillment: Fulfillment) -> WorkRow:
        return cls(fulfillment, is_late(fulfillment))


def supplier_history(fulfillment: Fulfillment) -> list[HistoryEntry]:
    """Return the entries of a fulfillment's history, oldest first."""
    events = newest(Event.objects.filter(fulfillment_id=fulfillment.pk))
    lines = {line.pk: line.sku for line in fulfillment.lines.all()}
    return history_of(fulfillment.supplier, events, {}, lines)

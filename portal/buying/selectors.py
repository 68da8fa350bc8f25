"""Queries of a retailer's orders for its pages."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import Retailer
from api.inside_search import LEAST, contains
from api.prefix_search import begins
from catalog.models import Variant
from events.models import Event
from events.timeline import HistoryEntry, newest
from fulfillments.models import Fulfillment, FulfillmentLine, Shipment
from orders.models import Order, OrderLine, SearchEntry
from orders.processing_state import FINISHED, ProcessingState
from portal.history import history_of
from portal.late import LATE

MOST_FOUND = 200
"""The maximum number of rows that each query of a search reads, newest first."""
OPEN = ~Q(processing_state__in=[*FINISHED])
TABS: dict[str, tuple[str, Q]] = {
    "open": ("Open", OPEN),
    "late": ("Late", OPEN & Q(pk__in=Fulfillment.objects.filter(LATE).not_held().values("order_id"))),
    "exception": ("Problems", Q(processing_state=ProcessingState.EXCEPTION)),
    "canceling": ("Cancellations", Q(processing_state=ProcessingState.CANCELING)),
    "completed": ("Completed", Q(processing_state=ProcessingState.COMPLETED)),
    "canceled": ("Canceled", Q(processing_state=ProcessingState.CANCELED)),
    "all": ("All", Q()),
}
"""The tabs of the list: the label and the condition of each."""
NEW_ORDERS = "Orders appear here as soon as your system pushes them."
EMPTY = {
    "open": NEW_ORDERS,
    "late": "No order is late.",
    "exception": "No order has a problem.",
    "canceling": "No cancellation waits for a supplier’s answer.",
    "completed": "No order is completed yet.",
    "canceled": "No order is canceled.",
    "all": NEW_ORDERS,
}
"""The text of each tab without orders."""


def orders_of(retailer: Retailer) -> QuerySet[Order]:
    """Return the retailer's orders with the relations that pages show and actions read."""
    own = Order.objects.for_retailer(retailer).select_related("retailer")
    of_parts = (f"fulfillments__{name}" for name in ("supplier", "partnership", "capture", "lines"))
    return own.prefetch_related("lines", *of_parts)


def listed_orders(retailer: Retailer) -> QuerySet[Order]:
    """Return the retailer's orders with the relations that lists show."""
    own = Order.objects.for_retailer(retailer)
    of_parts = (f"fulfillments__{name}" for name in ("supplier", "shipments", "capture"))
    return own.prefetch_related("lines", *of_parts)


def found(retailer: Retailer, term: str) -> Q:
    """Return the condition that finds orders by a number, the customer, a sku or a tracking number.

    Each field has its own query, so that each query uses its own index. A query with too many results returns
    only the newest orders.
    """
    own = Order.objects.for_retailer(retailer)
    number = int(term) if term.isascii() and term.isdecimal() and len(term) < 19 else 0
    by_number = own.filter(Q(retailer_order_id=term) | Q(sales_order_number=term) | Q(pk=number))
    if len(term) >= LEAST:
        entries = SearchEntry.objects.filter(contains("text", term)).values("order_id")
        by_customer = _newest(own.filter(pk__in=entries), "pk")
    else:
        by_customer = own.none().values_list("pk", flat=True)
    variants = Variant.objects.for_retailer(retailer).filter(sku=term).values_list("pk", flat=True)
    lines = FulfillmentLine.objects.filter(
        variant__in=[*variants[:MOST_FOUND]], fulfillment__order__retailer=retailer
    )
    waiting = OrderLine.objects.filter(waiting_since__isnull=False, sku=term, order__retailer=retailer)
    parcels = Shipment.objects.filter(begins("tracking_number", term), fulfillment__order__retailer=retailer)
    found_by: list[Collection[int]] = [
        by_number.values_list("pk", flat=True)[:MOST_FOUND],
        by_customer,
        _newest(lines, "fulfillment__order_id"),
        _newest(waiting, "order_id"),
        _newest(parcels, "fulfillment__order_id"),
    ]
    return Q(pk__in={order_id for ids in found_by for order_id in ids})


def _newest(rows: QuerySet[Any], order_id: str) -> QuerySet[Any, int]:
    """Return the order ids of the newest rows. `order_id` is the field with the order's id."""
    return rows.order_by("-pk").values_list(order_id, flat=True)[:MOST_FOUND]


def retailer_history(order: Order) -> list[HistoryEntry]:
    """Return the events of an order and of its fulfillments, oldest first."""
    events = newest(Event.objects.for_retailer(order.retailer).filter(order_id=order.pk))
    lines = {line.pk: line.name for line in order.lines.all()}
    parts = (part.lines.all() for part in order.fulfillments.all())
    return history_of(order.retailer, events, lines, {line.pk: line.sku for each in parts for line in each})

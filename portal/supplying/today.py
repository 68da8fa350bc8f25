"""The open work of a supplier today."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.db.models import F, Q, Sum
from django.utils import timezone

from accounts.models import Supplier
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.scorecard.selectors import last_feed
from fulfillments.states import State
from portal.buckets import MOST_COUNTED, WorkBucket
from portal.late import TO_ANSWER
from portal.supplying.selectors import TABS, WorkRow, fulfillments_of

SHOWN = 20
OPEN_UNITS = F("quantity") - F("shipped") - F("rejected") - F("canceled")


def supplier_today(supplier: Supplier) -> dict[str, Any]:
    """Return the buckets, the most urgent orders and the age of the stock, by a fixed number of queries."""
    urgent = fulfillments_of(supplier).filter(state__in=TO_ANSWER).order_by("due_at", "pk")[:SHOWN]
    return {
        "buckets": [
            _bucket(supplier, "New", TABS["new"][1], "new", "Accept orders"),
            _bucket(supplier, "To ship today", _to_ship_today(), "accepted", "Ship orders"),
            _bucket(supplier, "Late", TABS["late"][1], "late", "See late orders", "bad"),
            _bucket(
                supplier,
                "Cancellations to answer",
                TABS["canceling"][1],
                "canceling",
                "Answer them",
                "warn",
            ),
        ],
        "list_url": "portal:supplier_orders",
        "rows": [WorkRow.of(each) for each in urgent],
        "fed_at": last_feed(supplier),
    }


def _to_ship_today() -> Q:
    """Make the condition of orders whose time to ship ends today (UTC)."""
    midnight = datetime.combine(timezone.now().date() + timedelta(days=1), time(), UTC)
    return Q(state__in=(State.ACCEPTED, State.CANCELATION_NOT_ALLOWED), due_at__lte=midnight)


def _bucket(
    supplier: Supplier, name: str, condition: Q, tab: str, button: str, color: str = ""
) -> WorkBucket:
    """Count at most a thousand orders, so that the page is fast for any amount of work."""
    waiting = Fulfillment.objects.for_supplier(supplier).not_held().filter(condition)
    ids = [*waiting.order_by("pk").values_list("pk", flat=True)[: MOST_COUNTED + 1]]
    lines = FulfillmentLine.objects.filter(fulfillment__in=ids[:MOST_COUNTED])
    amount = lines.aggregate(total=Sum(F("wholesale_price") * OPEN_UNITS))["total"]
    amounts = [] if amount is None else [(amount, supplier.currency)]
    return WorkBucket(name, ids, f"?tab={tab}", button, amounts, color)

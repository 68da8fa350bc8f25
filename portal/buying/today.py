"""The open work of a retailer today."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from accounts.models import Retailer
from orders.models import Order
from orders.open_amounts import total_open
from portal.buckets import MOST_COUNTED, WorkBucket
from portal.buying.columns import USUAL
from portal.buying.selectors import TABS, listed_orders

SHOWN = 20
BUCKETS = (
    ("Problems", "exception", "Solve problems", "bad"),
    ("Late", "late", "See late orders", "bad"),
    ("Cancellations unanswered", "canceling", "See cancellations", "warn"),
    ("Open", "open", "See open orders", ""),
)
"""For each bucket, its name, the tab of the linked list, the text of the button and the color."""


def retailer_today(retailer: Retailer) -> dict[str, Any]:
    """Return the buckets and the newest open orders, with a fixed number of queries."""
    newest = listed_orders(retailer).filter(TABS["open"][1]).order_by("-pk")[:SHOWN]
    return {
        "buckets": [_bucket(retailer, *each) for each in BUCKETS],
        "columns": USUAL,
        "rows": [(order, [(column, column.value(order)) for column in USUAL]) for order in newest],
    }


def _bucket(retailer: Retailer, name: str, tab: str, button: str, color: str) -> WorkBucket:
    """Count at most a thousand orders, so that the page is fast for any amount of work."""
    own = Order.objects.for_retailer(retailer)
    waiting = own.filter(TABS[tab][1]).order_by("-pk").values("pk")
    ids = [*waiting.values_list("pk", flat=True)[: MOST_COUNTED + 1]]
    url = f"{reverse('portal:retailer_orders')}?tab={tab}"
    return WorkBucket(name, ids, url, button, total_open(waiting[:MOST_COUNTED]), color)

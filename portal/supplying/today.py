"""The open work of a supplier today."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.urls import reverse

from accounts.models import Supplier
from fulfillments.models import Fulfillment
from fulfillments.selectors import open_amounts
from portal.buckets import MOST_COUNTED, WorkBucket
from portal.late import TO_ANSWER
from portal.supplying.feeds import files_bucket, stock_bucket
from portal.supplying.selectors import TABS, WorkRow, fulfillments_of, most_urgent

SHOWN = 20


def supplier_today(supplier: Supplier) -> dict[str, Any]:
    """Return the buckets and the most urgent orders, with a fixed number of queries."""
    urgent = most_urgent(fulfillments_of(supplier).filter(state__in=TO_ANSWER), SHOWN)
    return {
        "buckets": [
            _bucket(supplier, "New", TABS["new"][1], "new", "Accept orders"),
            _bucket(supplier, "To ship today", TABS["today"][1], "today", "Ship orders"),
            _bucket(supplier, "Late", TABS["late"][1], "late", "See late orders", "bad"),
            _bucket(
                supplier,
                "Cancellations to answer",
                TABS["canceling"][1],
                "canceling",
                "Answer them",
                "warn",
            ),
            files_bucket(supplier),
            stock_bucket(supplier),
        ],
        "rows": [WorkRow.of(each) for each in urgent],
    }


def _bucket(
    supplier: Supplier, name: str, condition: Q, tab: str, button: str, color: str = ""
) -> WorkBucket:
    """Count at most a thousand orders, so that the page is fast for any amount of work."""
    waiting = Fulfillment.objects.for_supplier(supplier).not_held().filter(condition)
    ids = [*waiting.order_by("pk").values_list("pk", flat=True)[: MOST_COUNTED + 1]]
    amounts = open_amounts(ids[:MOST_COUNTED])
    return WorkBucket(name, ids, f"{reverse('portal:supplier_orders')}?tab={tab}", button, amounts, color)

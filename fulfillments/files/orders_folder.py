"""`orders/` of the upload area: what there is to ship, and what was handed out, a file a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from itertools import accumulate

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from fulfillments.files.order_lines import as_csv
from fulfillments.filters import FULFILLMENT_STATES, RETAILER_STATES
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.selectors import FulfillmentRow, fulfillments_json, mark_captured, rows
from sftp_ingest.area.made_files import MadeFile, MadeFolder
from sftp_ingest.area.paths import ORDERS

# In a file; further fulfillments come when these are accepted. It is made whole, so its lines are counted,
# too: one order may have a thousand.
MOST, MOST_LINES = 5_000, 50_000
DAYS = timedelta(days=30)
NEW = RETAILER_STATES["ordered"] & FULFILLMENT_STATES["new"]
CANCELING = RETAILER_STATES["canceling"]


class OrdersFolder(MadeFolder):
    """`new.csv`, `canceling.csv`, and what was captured on each day: six queries for each at most."""

    name = ORDERS

    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        own = Fulfillment.objects.filter(supplier_id=supplier_id).not_held()
        return {
            "new.csv": partial(_to_do, own, NEW),
            "canceling.csv": partial(_to_do, own, CANCELING),
            **{f"{day}.csv": partial(_handed_out, page) for day, page in _by_day(own).items()},
        }


def _to_do(own: QuerySet[Fulfillment], wanted: Q) -> MadeFile:
    """What can be captured now; reading it captures it, as listing it over the API does."""
    page = _that_fit(list(rows(own.filter(wanted).order_by("id"))[:MOST]))
    content = as_csv(fulfillments_json(page), open_only=True)
    return MadeFile(content, on_read=partial(_capture, page))


def _that_fit(page: list[FulfillmentRow]) -> list[FulfillmentRow]:
    """The first of these fulfillments: as many as have no more lines than a file; one at least."""
    ids = [row.id for row in page]
    counted = FulfillmentLine.objects.filter(fulfillment_id__in=ids).values_list("fulfillment_id")
    lines: dict[int, int] = dict(counted.annotate(Count("pk")))
    so_far = accumulate(lines.get(row.id, 0) for row in page)
    fitting = sum(count <= MOST_LINES for count in so_far)
    return page[: max(fitting, 1)]


def _capture(page: list[FulfillmentRow]) -> None:
    mark_captured(page)


def _by_day(own: QuerySet[Fulfillment]) -> dict[date, list[FulfillmentRow]]:
    """Of the latest fulfillments those that were captured, by day (UTC), as far as days are shown."""
    since, days = timezone.now() - DAYS, dict[date, list[FulfillmentRow]]()
    for row in reversed(list(rows(own.order_by("-id"))[:MOST])):
        if row.captured_at is not None and row.captured_at >= since:
            days.setdefault(row.captured_at.date(), []).append(row)
    return days


def _handed_out(page: list[FulfillmentRow]) -> MadeFile:
    page = _that_fit(page[::-1])[::-1]  # the latest
    latest = max(row.captured_at.timestamp() for row in page if row.captured_at is not None)
    return MadeFile(as_csv(fulfillments_json(page), open_only=False), modified=latest)

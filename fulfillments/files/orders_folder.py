"""`orders/` of the upload area: open work, and one file for each day with captures."""

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

# The limits of one file; the others follow after the supplier has accepted these. The file is built in
# memory, so its lines are limited too: one order may have a thousand lines.
MOST, MOST_LINES = 5_000, 50_000
DAYS = timedelta(days=30)
NEW = RETAILER_STATES["ordered"] & FULFILLMENT_STATES["new"]
CANCELING = RETAILER_STATES["canceling"]


class OrdersFolder(MadeFolder):
    """The folder with `new.csv`, `canceling.csv` and a file for each day; at most six queries per file."""

    name = ORDERS

    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        fulfillments = Fulfillment.objects.filter(supplier_id=supplier_id).not_held()
        return {
            "new.csv": partial(_to_do, fulfillments, NEW),
            "canceling.csv": partial(_to_do, fulfillments, CANCELING),
            **{f"{day}.csv": partial(_captured_on_day, page) for day, page in _by_day(fulfillments).items()},
        }


def _to_do(fulfillments: QuerySet[Fulfillment], wanted: Q) -> MadeFile:
    """Return the file of open work. Reading the file captures its fulfillments, as the API does."""
    page = _that_fit(list(rows(fulfillments.filter(wanted).order_by("id"))[:MOST]))
    content = as_csv(fulfillments_json(page), open_only=True)
    return MadeFile(content, on_read=partial(_capture, page))


def _that_fit(page: list[FulfillmentRow]) -> list[FulfillmentRow]:
    """Return the first fulfillments whose lines fit into one file; at least one fulfillment."""
    ids = [row.id for row in page]
    counted = FulfillmentLine.objects.filter(fulfillment_id__in=ids).values_list("fulfillment_id")
    lines: dict[int, int] = dict(counted.annotate(Count("pk")))
    so_far = accumulate(lines.get(row.id, 0) for row in page)
    fitting = sum(count <= MOST_LINES for count in so_far)
    return page[: max(fitting, 1)]


def _capture(page: list[FulfillmentRow]) -> None:
    mark_captured(page)


def _by_day(fulfillments: QuerySet[Fulfillment]) -> dict[date, list[FulfillmentRow]]:
    """Return the latest captured fulfillments by day (UTC), for the days that the folder shows."""
    since, days = timezone.now() - DAYS, dict[date, list[FulfillmentRow]]()
    for row in reversed(list(rows(fulfillments.order_by("-id"))[:MOST])):
        if row.captured_at is not None and row.captured_at >= since:
            days.setdefault(row.captured_at.date(), []).append(row)
    return days


def _captured_on_day(page: list[FulfillmentRow]) -> MadeFile:
    page = _that_fit(page[::-1])[::-1]  # keep the latest
    latest = max(row.captured_at.timestamp() for row in page if row.captured_at is not None)
    return MadeFile(as_csv(fulfillments_json(page), open_only=False), modified=latest)

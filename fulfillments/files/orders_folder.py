"""The folder `orders/` of the upload area: open work, changes, a file for each day, and `slips/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import ClassVar

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from api.renderers import iso
from fulfillments.capturing import save_captures
from fulfillments.files.asking import asked_at
from fulfillments.files.changed import changed
from fulfillments.files.order_lines import (
    COLUMNS,
    Units,
    all_units,
    cancel_requested,
    line_rows,
    open_units,
)
from fulfillments.filters import FULFILLMENT_STATES, RETAILER_STATES
from fulfillments.models import Fulfillment
from fulfillments.selectors import FulfillmentRow, count_fitting, fulfillments_json, rows
from fulfillments.slips.folder import SLIPS, SlipsFolder
from imports.made_sheets import Columns, Rows, as_csv, as_xlsx
from sftp_ingest.area.made_files import MadeFile, MadeFolder
from sftp_ingest.area.paths import ORDERS

# The largest numbers of fulfillments and of lines in one file. After the supplier has accepted these
# fulfillments, the file shows the next fulfillments. Lines are limited too, because the file is built in
# memory, and one order may have a thousand lines.
MOST, MOST_LINES = 5_000, 50_000
MOST_LINES_OF_WORKBOOK = 2_000  # a workbook takes longer to write than a CSV
DAYS = timedelta(days=30)
NEW = RETAILER_STATES["ordered"] & FULFILLMENT_STATES["new"]
CANCELING = RETAILER_STATES["canceling"]


Write = Callable[[Columns, Rows], bytes]
"""A function that returns the content of a file in its format."""


class OrdersFolder(MadeFolder):
    """The folder with open work, changes, and a file for each day with captures.

    Each file takes at most seven queries.
    """

    name = ORDERS
    folders: ClassVar[Mapping[str, MadeFolder]] = {SLIPS: SlipsFolder()}

    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        fulfillments = Fulfillment.objects.filter(supplier_id=supplier_id).not_held()
        return {
            "new.csv": partial(_to_do, fulfillments, NEW, open_units),
            "new.xlsx": partial(_to_do, fulfillments, NEW, open_units, as_xlsx),
            "canceling.csv": partial(_to_do, fulfillments, CANCELING, cancel_requested),
            "canceling.xlsx": partial(_to_do, fulfillments, CANCELING, cancel_requested, as_xlsx),
            "changed.csv": partial(changed, supplier_id),
            **{f"{day}.csv": partial(_captured_on_day, page) for day, page in _by_day(fulfillments).items()},
        }


def _to_do(fulfillments: QuerySet[Fulfillment], wanted: Q, units: Units, write: Write = as_csv) -> MadeFile:
    """Return the file of open work. Reading the file captures its fulfillments, as the API does."""
    most_lines = MOST_LINES_OF_WORKBOOK if write is as_xlsx else MOST_LINES
    page = _that_fit(list(rows(fulfillments.filter(wanted).order_by("id"))[:MOST]), most_lines)
    return MadeFile(_content(page, units, write), on_read=partial(_capture, page))


def _content(page: list[FulfillmentRow], units: Units, write: Write = as_csv) -> bytes:
    # Read the times of the requests first, and then the lines, because a line may join between the two reads.
    # If the lines were read first, the file could have the request time of a new line without this line.
    moments = asked_at(page)
    return write(COLUMNS, line_rows(fulfillments_json(page), moments, units))


def _that_fit(page: list[FulfillmentRow], most_lines: int) -> list[FulfillmentRow]:
    """Return the first fulfillments, up to the limit of lines, but at least one fulfillment."""
    return page[: count_fitting([row.id for row in page], most_lines)]


def _capture(page: list[FulfillmentRow]) -> None:
    """Capture the fulfillments that did not change after the file was made.

    While the rows are locked, new units cannot join the fulfillments. The lock does not block moves.
    """
    shown = {row.id: row.updated_at for row in page if row.captured_at is None}
    if not shown:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM fulfillments_fulfillment WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE", [list(shown)]
        )
        now = dict(Fulfillment.objects.not_held().filter(pk__in=shown).values_list("pk", "updated_at"))
        save_captures([pk for pk, updated_at in now.items() if iso(updated_at) == shown[pk]])


def _by_day(fulfillments: QuerySet[Fulfillment]) -> dict[date, list[FulfillmentRow]]:
    """Return the newest fulfillments by the day of their capture (UTC), for the last 30 days."""
    since, days = timezone.now() - DAYS, dict[date, list[FulfillmentRow]]()
    for row in reversed(list(rows(fulfillments.order_by("-id"))[:MOST])):
        if row.captured_at is not None and row.captured_at >= since:
            days.setdefault(row.captured_at.date(), []).append(row)
    return days


def _captured_on_day(page: list[FulfillmentRow]) -> MadeFile:
    page = _that_fit(page[::-1], MOST_LINES)[::-1]  # keep the newest fulfillments
    latest = max(row.captured_at.timestamp() for row in page if row.captured_at is not None)
    return MadeFile(_content(page, all_units), modified=latest)

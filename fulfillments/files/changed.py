"""The file `orders/changed.csv`: changes of captured fulfillments since the supplier last read the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.db import connection
from django.utils import timezone

from api.renderers import iso
from events.models import Event
from fulfillments import states
from fulfillments.files.order_lines import ADDRESS, text_cell
from fulfillments.models import Capture, ChangesRead, Fulfillment, FulfillmentLine
from imports.made_sheets import as_csv
from sftp_ingest.area.made_files import MadeFile

# The largest number of changes in one file. Later changes are in the next file.
MOST = 5_000
# The first file that a supplier reads has the changes of the last 30 days.
DAYS = timedelta(days=30)
CHANGES = {
    states.APPROVE_CANCELATION.event: "canceled",
    states.WITHDRAW.event: "reassigned",
    "fulfillment.held": "held",
    "fulfillment.released": "released",
    "fulfillment.address_corrected": "address_corrected",
}
EXPIRED = "expired"
"""The `change` of a fulfillment that the service canceled because the supplier did not answer in time."""
SYSTEM = "system:"
FIRST_COLUMNS = ("fulfillment_id", "change", "changed_at")
COLUMNS = (*FIRST_COLUMNS, *ADDRESS, "order_id", "retailer_order_id", "quantity_open")


class CapturedChange(NamedTuple):
    """A change of a fulfillment: the columns of the event that recorded the change."""

    number: int
    type: str
    occurred_at: datetime
    actor: str
    fulfillment_id: int

    @property
    def name(self) -> str:
        change = CHANGES[self.type]
        return EXPIRED if change == "canceled" and self.actor.startswith(SYSTEM) else change


def changed(supplier_id: int) -> MadeFile:
    """Return the file of changes.

    A change stays in the file until a client has read the whole file and closed it.
    """
    Event.publish()
    read = ChangesRead.objects.filter(supplier_id=supplier_id).first()
    # Filter by `area` too, so that PostgreSQL uses the index with the event type. The supplier has many
    # events of other types.
    events = Event.objects.filter(
        supplier_id=supplier_id, area="fulfillments", type__in=CHANGES, number__isnull=False
    )
    if read is not None:
        events = events.filter(number__gt=read.number)
    else:
        events = events.filter(occurred_at__gte=timezone.now() - DAYS)
    columns = events.order_by("number").values_list(*CapturedChange._fields)
    changes = [CapturedChange(*row) for row in columns[:MOST]]
    content = as_csv(COLUMNS, _rows(_of_captured(changes)))
    if not changes:
        return MadeFile(content)
    return MadeFile(content, on_finished=partial(_mark_read, supplier_id, changes[-1].number))


def _of_captured(changes: list[CapturedChange]) -> list[CapturedChange]:
    """Leave out changes before the first capture, because the supplier did not know the fulfillment yet."""
    ids = {change.fulfillment_id for change in changes}
    captured: dict[int, datetime] = dict(Capture.objects.filter(pk__in=ids).values_list("pk", "captured_at"))
    return [
        change
        for change in changes
        if change.fulfillment_id in captured and captured[change.fulfillment_id] <= change.occurred_at
    ]


def _rows(changes: Iterable[CapturedChange]) -> Iterator[dict[str, str]]:
    ids = {change.fulfillment_id for change in changes}
    columns = ("pk", "order_id", "order__retailer_order_id", "order__shipping_address")
    found = Fulfillment.objects.filter(pk__in=ids).values_list(*columns)
    orders = {pk: values for pk, *values in found}
    open_units = Counter[int]()
    for line in FulfillmentLine.objects.filter(fulfillment_id__in=ids):
        open_units[line.fulfillment_id] += line.open
    for change in changes:
        order_id, retailer_order_id, address = orders[change.fulfillment_id]
        row: dict[str, object] = {
            "fulfillment_id": change.fulfillment_id,
            "change": change.name,
            "changed_at": iso(change.occurred_at),
            **{name: address.get(name) for name in ADDRESS},
            "order_id": order_id,
            "retailer_order_id": retailer_order_id,
            "quantity_open": open_units[change.fulfillment_id],
        }
        yield {name: text_cell(value) for name, value in row.items()}


def _mark_read(supplier_id: int, number: int) -> None:
    """Save the number of the last event read. Keep a greater number, which another client may have saved."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fulfillments_changesread AS known (supplier_id, number) VALUES (%s, %s)
            ON CONFLICT (supplier_id) DO UPDATE SET number = excluded.number, read_at = now()
                WHERE known.number < excluded.number
            """,
            [supplier_id, number],
        )

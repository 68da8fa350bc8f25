"""Quick ship: up to 50 rows, each with an order and a tracking number.

All rows are checked first. Then they are shipped one by one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from accounts.actors import Actor
from accounts.models import Result, Supplier
from accounts.operating.bulk_actions import record_single, was_sent
from api.fields import control_fault
from api.ids import as_id
from fulfillments.models import Fulfillment
from fulfillments.tracking import identify
from imports.pipeline.columns import ROUNDED
from portal.pasting import pasted_pairs
from portal.supplying.actions import SHIP

MOST_ROWS = 50
LONGEST_NUMBER = 100
MORE_COLUMNS = re.compile(r"[\t,;]")
ROUNDED_NUMBER = re.compile(ROUNDED, re.IGNORECASE)
BY_ID = "#"
"""The mark before a fulfillment's id. A number without the mark may be an id or an order number."""


@dataclass
class ShipRow:
    """A row with an order and a tracking number.

    `problem` is the reason why the row cannot be shipped. `message` is the result of a shipped row.
    """

    position: int
    order: str
    tracking_number: str
    fulfillment: Fulfillment | None = None
    problem: str = ""
    message: str = ""
    carrier: str = ""
    warning: str = ""
    """The reason why the tracking number is doubtful. The member must confirm such a number to ship it."""

    @property
    def is_ready(self) -> bool:
        return not self.problem and not self.message

    @property
    def text(self) -> str:
        return f"{self.order}\t{self.tracking_number}".strip()


def read_rows(text: str, typed: Iterable[tuple[int, str]] = ()) -> list[ShipRow]:
    """Read pasted rows, and tracking numbers that were typed beside fulfillments. Empty rows are left out."""
    pairs = pasted_pairs(text)
    pairs += [(f"{BY_ID}{pk}", number.strip()) for pk, number in typed if number.strip()]
    return [ShipRow(position, *pair) for position, pair in enumerate(pairs, start=1)]


def check(supplier: Supplier, rows: Sequence[ShipRow]) -> None:
    """Find the fulfillment of each row, and set the `problem` of the rows that cannot be shipped.

    The number of queries is the same for any number of rows.
    """
    matches = _matches(supplier, {row.order for row in rows})
    shipped: dict[int, int] = {}
    used: dict[str, int] = {}
    for row in rows:
        parcel = identify(row.tracking_number)
        row.carrier, row.warning = parcel.carrier, parcel.warning
        row.problem = _fault(row, matches[row.order]) or _repeated(row, shipped, used)


def _fault(row: ShipRow, found: list[Fulfillment]) -> str:
    if not row.tracking_number:
        return "The tracking number is missing. Write it after the order, with a tab or a comma between them."
    if MORE_COLUMNS.search(row.tracking_number):
        return "This row has more than two columns. Paste only the order and the tracking number."
    if ROUNDED_NUMBER.match(row.tracking_number):
        return (
            "A spreadsheet rounded this long number. Format its column as text, and enter the number again."
        )
    if control_fault(row.tracking_number):
        return "The tracking number has a control character. Type it again."
    if len(row.tracking_number) > LONGEST_NUMBER:
        return f"The tracking number has more than {LONGEST_NUMBER} characters."
    possible = [each for each in found if not SHIP.why_not(each)] or found
    numbered = [each for each in found if each.order.retailer_order_id == row.order]
    if numbered and not any(each in numbered for each in possible):
        possible = found  # the order with this number is shipped, and the number is also another order's id
    if not possible:
        return "You have no order with this number."
    if len(possible) > 1:
        numbers = ", ".join(f"{BY_ID}{each.pk}" for each in possible[:5])
        return f"Several orders have this number. Use the number of the fulfillment: {numbers}."
    row.fulfillment = possible[0]
    return SHIP.why_not(possible[0])


def _repeated(row: ShipRow, shipped: dict[int, int], used: dict[str, int]) -> str:
    assert row.fulfillment is not None  # a row without a fulfillment has a problem
    order = shipped.setdefault(row.fulfillment.pk, row.position)
    number = used.setdefault(row.tracking_number, row.position)
    if order != row.position:
        return f"Row {order} ships this order, too. Remove one of the two rows."
    return "" if number == row.position else f"Row {number} has this tracking number, too. Correct one row."


def _matches(supplier: Supplier, orders: set[str]) -> dict[str, list[Fulfillment]]:
    """Return the fulfillments for each number in the rows: the number of an order or of a fulfillment."""
    own = Fulfillment.objects.for_supplier(supplier).prefetch_related("lines")
    own = own.select_related("order__retailer", "partnership", "supplier", "warehouse")
    retailers = [*supplier.partnerships.values_list("retailer_id", flat=True)]
    found: dict[str, list[Fulfillment]] = defaultdict(list)
    for each in own.filter(order__retailer_order_id__in=orders, order__retailer__in=retailers):
        found[each.order.retailer_order_id].append(each)
    for each in own.filter(pk__in=[as_id(order.removeprefix(BY_ID)) for order in orders]):
        for name in (str(each.pk), f"{BY_ID}{each.pk}"):
            if each not in found[name]:
                found[name].append(each)
    return found


def ship(rows: Sequence[ShipRow], *, by: Actor, form_id: UUID, doubtful: bool = False) -> None:
    """Ship the ready rows, each in its own transaction, and set the `message` or `problem` of each row.

    Rows with a warning are shipped only if `doubtful` is set. If the same form is sent again, `ship` ships
    only the remaining rows with a warning, if `doubtful` is set. The member sends other rows in a new form.
    """
    ids = {row.position: uuid5(form_id, row.text) for row in rows}
    shipped = {position for position, once in ids.items() if was_sent(once)}
    for row in rows:
        once = ids[row.position]
        if row.position in shipped:
            row.problem, row.message = "", "Shipped."
        elif shipped and not (doubtful and row.warning):
            row.problem = (
                row.problem or "Not shipped, because this form was sent before. Ship this row below."
            )
        elif not row.problem and row.warning and not doubtful:
            row.problem = f"{row.warning} Correct the number, or confirm it."
        elif not row.problem and row.fulfillment is not None:
            answers = {"tracking_number": row.tracking_number, "carrier": ""}
            result, said = record_single(SHIP, row.fulfillment, by=by, answers=answers, form_id=once)
            if result is Result.REFUSED:
                row.problem = said
            else:
                row.message = said

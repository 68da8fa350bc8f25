"""The memory of rows that were carried out. A repeated row changes nothing, even after later changes.

A row is stored in two forms: its cells as written, and its meaning (its line and the open request). So the
row is also recognized with other columns, or if a spreadsheet has shortened its `asked_at`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from api.errors import Invalid
from api.renderers import iso
from fulfillments.files.asking import AskedAt, asked_at
from fulfillments.files.units import LONGEST_ID, LONGEST_QUANTITY, lines_with, whole_number
from fulfillments.models import CarriedOutRow, Fulfillment
from imports.models import ImportJob

Row = Mapping[str, str]
# The digest is computed from these columns. A missing column counts as empty. `fulfillment_id` is left out,
# because `CarriedOutRow` stores the fulfillment beside the digest. `shipped_at` is left out, because a row
# with another time is still about the same parcel.
COMPARED = ("action", "tracking_number", "carrier", "line_id", "sku", "quantity", "reason", "asked_at")
WHOLE_NUMBERS = {"line_id": LONGEST_ID, "quantity": LONGEST_QUANTITY}


def repeated_rows(job: ImportJob, rows: Sequence[Row]) -> set[int]:
    """Return the positions of the rows that were carried out before. All rows are about one fulfillment."""
    number = whole_number(rows[0]["fulfillment_id"], LONGEST_ID) or 0
    fulfillment = Fulfillment.objects.filter(pk=number, supplier_id=job.supplier_id).first()
    if fulfillment is None:
        return set()
    digests = [digests_of(fulfillment, row) for row in rows]
    known = CarriedOutRow.objects.filter(fulfillment=fulfillment, digest__in=set().union(*digests))
    before = {bytes(digest) for digest in known.values_list("digest", flat=True)}
    return {position for position, each in enumerate(digests) if each & before}


def digests_of(fulfillment: Fulfillment, *rows: Row) -> set[bytes]:
    """Return two digests of each row: of its cells as written, and of its meaning for the open request."""
    return {digest for row in rows for digest in (_digest(row), _digest(_meaning(fulfillment, row)))}


def remember(fulfillment: Fulfillment, digests: Iterable[bytes]) -> None:
    """Save the digests in the transaction that carries out the rows, even if the rows have no effect."""
    known = [CarriedOutRow(fulfillment=fulfillment, digest=digest) for digest in sorted(digests)]
    CarriedOutRow.objects.bulk_create(known, ignore_conflicts=True)


def _meaning(fulfillment: Fulfillment, row: Row) -> Row:
    """Return the row with the id of its line instead of the sku, and with the exact `asked_at`."""
    named = dict(row)
    if row.get("sku") and not row.get("line_id"):
        lines = lines_with(fulfillment.lines.all(), row["sku"])
        if len(lines) == 1:
            named["line_id"] = str(lines[0].pk)
    if named.get("line_id"):
        named["sku"] = ""
    named["asked_at"] = _request_of(fulfillment, row.get("asked_at", ""))
    return named


def _request_of(fulfillment: Fulfillment, text: str) -> str:
    """Return the exact time of the open request if `asked_at` is empty or shortened, else the text itself."""
    try:
        given = AskedAt.read(text) if text else None
    except Invalid:
        return text
    if given and given.is_exact:
        return text
    now = asked_at([fulfillment]).get(fulfillment.pk)
    return iso(now) if now and (given is None or given.covers(now)) else text


def action_of(row: Row) -> str:
    """Return the action in the spelling of `tracking.ACTIONS`."""
    return row["action"].lower().replace(" ", "_").replace("-", "_")


def _digest(row: Row) -> bytes:
    """Return the digest of a row. Another format of the cells in a spreadsheet does not change the digest."""
    # Add this cell only if it has a value: stored digests of rows without the column must stay the same.
    corrected = [row["old_tracking_number"]] if row.get("old_tracking_number") else []
    cells = repr([_cell(name, row) for name in COMPARED] + corrected)
    return hashlib.sha256(cells.encode()).digest()[:16]


def _cell(name: str, row: Row) -> str:
    text = row.get(name, "")
    if name == "action":
        return action_of(row)
    if name in WHOLE_NUMBERS:
        number = whole_number(text, WHOLE_NUMBERS[name])
        return text if number is None else str(number)
    if name == "asked_at" and text:
        try:
            return str(AskedAt.read(text))
        except Invalid:
            return text
    return text

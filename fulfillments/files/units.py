"""The units that rows of a file name. A row names its line by id or sku, and may have a quantity."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from api.errors import Invalid
from api.exporting.cells import harmless
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.models.quantities import NamedUnits, Quantities

LONGEST_QUANTITY = 9
LONGEST_ID = 18
# Many programs write 12 as 12.0 if a column of whole numbers has an empty cell.
WHOLE = re.compile(r"([0-9]+)(?:\.0+)?")


def whole_number(text: str, longest: int) -> int | None:
    """Return the whole number in a cell (`12` or `12.0`), or None for other texts and for more digits."""
    match = WHOLE.fullmatch(text)
    return int(match[1]) if match and len(match[1]) <= longest else None


def lines_with(lines: Iterable[FulfillmentLine], sku: str) -> list[FulfillmentLine]:
    """Return the lines with this sku. The sku may be escaped for spreadsheets, as in `orders/`."""
    return [line for line in lines if sku in (line.sku, harmless(line.sku))]


class UnitsByLine:
    """A fulfillment's lines, and the largest number of units that rows may name on each line.

    `room` has these numbers by line id: the open units, or the units of a known parcel. A row without a
    quantity names all units that `room` has for its lines.
    """

    def __init__(self, fulfillment: Fulfillment, shipped: Quantities | None = None) -> None:
        """Read the lines. If the rows repeat a known parcel, pass its units as `shipped`."""
        self.lines = list(fulfillment.lines.order_by("pk"))
        self.room = {
            line.pk: shipped.get(line.pk, 0) if shipped is not None else line.open for line in self.lines
        }

    @staticmethod
    def names_lines(row: Mapping[str, str]) -> bool:
        return bool(row.get("line_id") or row.get("sku") or row.get("quantity"))

    def named_by(self, rows: Sequence[Mapping[str, str]]) -> Quantities | None:
        """Return the units of all rows together, or None for all open units. Raises Invalid."""
        if not any(self.names_lines(row) for row in rows):
            return None
        units: Counter[int] = Counter()
        for row in rows:
            self._add(units, row)
        return NamedUnits(units, dict.fromkeys(units, "quantity"))

    def _add(self, units: Counter[int], row: Mapping[str, str]) -> None:
        lines, quantity = self._lines_of(row), _number(row.get("quantity", ""))
        left = quantity if quantity is not None else sum(self.room[line.pk] for line in lines)
        for line in lines:
            added = min(left, max(self.room[line.pk] - units[line.pk], 0))
            units[line.pk] += added
            left -= added
        # The last line also gets the units for which no line has room: the move then raises an error.
        units[lines[-1].pk] += left

    def _lines_of(self, row: Mapping[str, str]) -> list[FulfillmentLine]:
        number, sku = row.get("line_id", ""), row.get("sku", "")
        if not number and not sku:
            raise Invalid.at(
                "line_id",
                "Needs line_id or sku beside a quantity. Leave quantity empty to mean all open units.",
            )
        field, given = ("line_id", number) if number else ("sku", sku)
        wanted = whole_number(number, LONGEST_ID)
        by_sku = lines_with(self.lines, sku)
        lines = [line for line in self.lines if line.pk == wanted] if number else by_sku
        if number and lines and by_sku and lines[0] not in by_sku:
            # The two cells name different lines: a user sorted the columns separately. A sku that no line has
            # is ignored instead, because spreadsheets remove leading zeros.
            message = f"{sku[:40]!r} is another line: {lines[0].pk} is {lines[0].sku}. Copy the row again."
            raise Invalid.at("sku", message)
        if not lines:
            known = ", ".join(f"{line.pk} ({line.sku})" for line in self.lines)
            raise Invalid.at(
                field, f"{given[:40]!r} is not in this fulfillment; it has {known}.", "not_found"
            )
        return lines


def _number(text: str) -> int | None:
    if not text:
        return None
    quantity = whole_number(text, LONGEST_QUANTITY)
    if not quantity:
        raise Invalid.at("quantity", f"{text[:40]!r} is not a whole number of 1 or more.")
    return quantity

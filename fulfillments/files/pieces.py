"""Which pieces of a fulfillment the rows of a file name: by line or sku, so many, or all that are open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from api.errors import Invalid
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.models.quantities import Quantities
from imports.report_format import harmless

LONGEST_QUANTITY = 9
LONGEST_ID = 18
# A column of whole numbers with a gap comes out of many programs as 12.0.
WHOLE = re.compile(r"([0-9]+)(?:\.0+)?")


def whole_number(text: str, longest: int) -> int | None:
    """The whole number that a cell holds (`12`, or `12.0`); None where it holds none of that size."""
    found = WHOLE.fullmatch(text)
    return int(found[1]) if found and len(found[1]) <= longest else None


class PiecesOfLines:
    """A fulfillment's lines, and how many pieces of each a row means that gives no number."""

    def __init__(self, fulfillment: Fulfillment, sent: Quantities | None = None) -> None:
        """With `sent`, what a parcel that is known already holds: its rows mean that once more."""
        self.lines = list(fulfillment.lines.order_by("pk"))
        self.room = {line.pk: sent.get(line.pk, 0) if sent is not None else line.open for line in self.lines}

    @staticmethod
    def names_lines(row: Mapping[str, str]) -> bool:
        return bool(row.get("line_id") or row.get("sku") or row.get("quantity"))

    def named_by(self, rows: Sequence[Mapping[str, str]]) -> Quantities | None:
        """The pieces that these rows name together; None for all that is open. Raises Invalid."""
        if not any(self.names_lines(row) for row in rows):
            return None
        pieces: Counter[int] = Counter()
        for row in rows:
            self._add(pieces, row)
        return dict(pieces)

    def _add(self, pieces: Counter[int], row: Mapping[str, str]) -> None:
        lines, quantity = self._lines_of(row), _number(row.get("quantity", ""))
        left = quantity if quantity is not None else sum(self.room[line.pk] for line in lines)
        for line in lines:
            taken = min(left, max(self.room[line.pk] - pieces[line.pk], 0))
            pieces[line.pk] += taken
            left -= taken
        pieces[lines[-1].pk] += left  # too many: the move says so, with the numbers

    def _lines_of(self, row: Mapping[str, str]) -> list[FulfillmentLine]:
        number, sku = row.get("line_id", ""), row.get("sku", "")
        if not number and not sku:
            raise Invalid.at("line_id", "Say of which line, by line_id or sku, or leave quantity out.")
        field, given = ("line_id", number) if number else ("sku", sku)
        wanted = whole_number(number, LONGEST_ID) if number else sku
        # A sku comes back as `orders/` shows it, too: where a spreadsheet would run it, it was made harmless.
        found = [
            line
            for line in self.lines
            if (wanted == line.pk if number else wanted in (line.sku, harmless(line.sku)))
        ]
        if not found:
            known = ", ".join(f"{line.pk} ({line.sku})" for line in self.lines)
            raise Invalid.at(
                field, f"{given[:40]!r} is not in this fulfillment; it has {known}.", "not_found"
            )
        return found


def _number(text: str) -> int | None:
    if not text:
        return None
    quantity = whole_number(text, LONGEST_QUANTITY)
    if not quantity:
        raise Invalid.at("quantity", f"{text[:40]!r} is not a whole number of 1 or more.")
    return quantity

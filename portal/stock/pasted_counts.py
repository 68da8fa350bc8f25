"""Counts that someone pasted as two columns, a sku and a number. All rows are checked before the save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import Supplier
from api.fields import INTEGER
from api.form_fields import UNSEPARATED
from catalog.models import Variant
from inventory.elements import MOST
from inventory.models import Warehouse
from portal.pasting import pasted_pairs
from portal.stock.selectors import level_of, stocked_products


@dataclass
class CountRow:
    """A pasted row: its product, its count, and the reason why the row cannot be saved."""

    position: int
    sku: str
    count: str
    variant: Variant | None = None
    problem: str = ""

    @property
    def text(self) -> str:
        return f"{self.sku}\t{self.count}".strip()

    @property
    def before(self) -> int:
        level = level_of(self.variant) if self.variant else None
        return level.on_hand if level else 0

    @property
    def change(self) -> int:
        return int(self.count) - self.before


def read_counts(text: str) -> list[CountRow]:
    return [CountRow(position, *pair) for position, pair in enumerate(pasted_pairs(text), start=1)]


def check_counts(supplier: Supplier, warehouse: Warehouse, rows: Sequence[CountRow]) -> None:
    """Find the product of each row, and set the `problem` of wrong rows. Takes three queries."""
    found = stocked_products(supplier, warehouse).filter(sku__in={row.sku for row in rows})
    products = {variant.sku: variant for variant in found}
    first: dict[str, int] = {}
    for row in rows:
        row.variant = products.get(row.sku)
        row.problem = _fault(row) or _repeated(row, first)


def _fault(row: CountRow) -> str:
    if row.variant is None:
        return "You have no product with this SKU."
    if not row.count:
        return "The count is missing. Write it after the SKU, with a tab or a comma between them."
    is_count = INTEGER.fullmatch(row.count) and len(row.count) < 12 and 0 <= int(row.count) <= MOST
    return "" if is_count else f"The count must be a whole number from 0 to {MOST}. {UNSEPARATED}"


def _repeated(row: CountRow, first: dict[str, int]) -> str:
    position = first.setdefault(row.sku, row.position)
    return "" if position == row.position else f"Row {position} counts this product, too. Remove one row."

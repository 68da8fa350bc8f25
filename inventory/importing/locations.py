"""Stock of several places in a shop's export: a row for each, or a column for each (docs/adr/0026).

Both become rows of one variant, one place and one quantity. Places are known by their warehouses' names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from imports.pipeline.errors import Unreadable
from imports.pipeline.header_binding import find
from imports.pipeline.mapping import Entry
from imports.pipeline.tolerant_reader import Record
from imports.shop_exports import OF_STOCK
from imports.shop_exports.export import StockExport
from inventory.models import Warehouse

SHOWN, LONGEST_SHOWN = 10, 100
OVERSOLD = re.compile("-[0-9]+")


def export_of(options: Mapping[str, Any]) -> StockExport | None:
    """The export that an import's options name."""
    return OF_STOCK.get(options.get("mapping", ""))


def entries(export: StockExport, options: Mapping[str, Any]) -> list[Entry]:
    """The columns that its rewritten records have, with the field that each fills."""
    amounts = [options["amount_field"]] if options["amount_field"] else export.amount_fields
    found = [Entry(name, "quantity", optional=True) for name in amounts]
    found.append(Entry(export.id_field, "id", optional=True))
    if not options["warehouse_id"]:
        found.append(Entry(export.location_field, "warehouse"))
    return found


class LocationRows:
    """A rewriting of such an export for one supplier."""

    def __init__(
        self,
        export: StockExport,
        supplier_id: int,
        options: Mapping[str, Any],
        header: Sequence[str],
        own: int,
    ) -> None:
        """Raises Unreadable for a file that names no place, and none of whose columns is one."""
        self.export, self.own, self.header = export, own, list(header)
        found = Warehouse.objects.filter(supplier_id=supplier_id).order_by("pk")
        self.warehouses = {pk: name for name, pk in found.values_list("name", "pk")}
        # A name that reads like an id, or like another in lower case, means the warehouse of that name.
        self.names = {str(pk): name for pk, name in self.warehouses.items()}
        self.names |= {name.casefold(): name for name in self.warehouses.values()}
        self.names |= {name: name for name in self.warehouses.values()}
        # The warehouse that all of it is of, whatever the file calls that place.
        self.only = self.warehouses.get(options.get("warehouse_id") or 0, "")
        self.read: set[str] = set()
        # How many rows of each place were left out (0 of a column's), and the lines that say no quantity.
        self.unknown: Counter[str] = Counter()
        self.silent: list[int] = []
        self.location = self._find([export.location_field])
        given = options.get("amount_field")
        self.amount = self._find([given] if given else export.amount_fields)
        self.columns: dict[int, str] = {}
        if self.location is None:
            self._find_columns()

    def _find(self, names: Sequence[str]) -> int | None:
        found = (find(self.header, name, range(self.own)) for name in names)
        return next((index for index in found if index is not None), None)

    def _find_columns(self) -> None:
        """The places of a file that has a column for each."""
        others = [
            index
            for index, name in enumerate(self.header)
            if index >= self.own and name and name.casefold() not in self.export.other_fields
        ]
        named = {index: self._warehouse(self.header[index], rows=0) for index in others}
        self.columns = {index: name for index, name in named.items() if name}
        if not self.columns:
            raise self._nowhere()
        self.kept = [index for index in range(len(self.header)) if index not in named]
        self.header = [self.header[index] for index in self.kept]
        self.header += [self.export.location_field, self.export.amount_fields[0]]

    def _warehouse(self, place: str, rows: int = 1) -> str:
        """The name of the warehouse that a place is; empty where it is none. Raises Unreadable."""
        found = self.only or self.names.get(place) or self.names.get(place.casefold(), "")
        if not found:
            self.unknown[place] += rows
            return ""
        self.read.add(place)
        if self.only and len(self.read) > 1:
            listed = " and ".join(sorted(repr(each[:LONGEST_SHOWN]) for each in self.read))
            message = f"It has stock of {listed}. Leave warehouse_id out: then each goes by its name."
            raise Unreadable("several_locations", message)
        return found

    def rewrite(self, record: Record) -> Iterator[Record]:
        for index, warehouse in self.columns.items():
            if quantity := self._quantity(record, index):
                yield replace(
                    record, cells=[*(record.cells[each] for each in self.kept), warehouse, quantity]
                )
        if self.location is None:
            return
        warehouse = self._warehouse(record.cells[self.location].strip())
        if self.amount is None:
            yield record
        elif warehouse and (quantity := self._quantity(record, self.amount)):
            cells = list(record.cells)
            cells[self.location], cells[self.amount] = warehouse, quantity
            yield replace(record, cells=cells)

    def _quantity(self, record: Record, index: int) -> str:
        """The number; 0 for what is not stocked there, or sold more often than it is there."""
        cell = record.cells[index].strip()
        if not cell:
            self.silent.append(record.line)
        elif cell.casefold() in self.export.not_stocked or OVERSOLD.fullmatch(cell):
            return "0"
        return cell

    def finish(self) -> list[str]:
        if self.unknown and not self.read:
            raise self._nowhere()
        warnings = []
        if self.unknown:
            left = f"What is no warehouse of yours was left out: {self._places()}"
            warnings.append(f"{left}; yours are {self._own()}.")
        if self.silent:
            lines = list(dict.fromkeys(self.silent))
            listed = ", ".join(map(str, lines[:SHOWN])) + (" …" if len(lines) > SHOWN else "")
            message = (
                f"Cells without a quantity were skipped, what they are of stays as it is: lines {listed}."
            )
            warnings.append(message)
        return warnings

    def _nowhere(self) -> Unreadable:
        has = f"it has {self._places()}" if self.unknown else "it names none"
        message = f"The file has stock of no warehouse of yours: {has}; yours are {self._own()}."
        hint = "Give warehouse_id if it is of one place, or ask the operator to name your warehouses so."
        return Unreadable("unknown_location", f"{message} {hint}")

    def _places(self) -> str:
        shown = [
            f"{name[:LONGEST_SHOWN]!r} ({count} row{'s' if count > 1 else ''})"
            if count
            else repr(name[:LONGEST_SHOWN])
            for name, count in self.unknown.most_common(SHOWN)
        ]
        return ", ".join(shown) + (" …" if len(self.unknown) > SHOWN else "")

    def _own(self) -> str:
        return ", ".join(map(repr, list(self.warehouses.values())[:SHOWN])) or "none"

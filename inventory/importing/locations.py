"""A shop's export with the stock of several locations: one row or one column per location (docs/adr/0026).

Both forms are rewritten to rows with one variant, one location and one quantity. A location means the
warehouse with the same name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from imports.pipeline.errors import Unreadable
from imports.pipeline.header_binding import find
from imports.pipeline.mapping import MappingEntry
from imports.pipeline.tolerant_reader import Record
from imports.shop_exports import OF_STOCK
from imports.shop_exports.export import StockExport
from inventory.importing.full_files import FULL
from inventory.models import Warehouse

SHOWN, LONGEST_SHOWN = 10, 100
OVERSOLD = re.compile("-[0-9]+")


def export_of(options: Mapping[str, Any]) -> StockExport | None:
    """Return the shop export that is named in an import's options, or None."""
    return OF_STOCK.get(options.get("mapping", ""))


def entries(export: StockExport, options: Mapping[str, Any]) -> list[MappingEntry]:
    """Return the mapping of the rewritten records."""
    amounts = [options["amount_field"]] if options["amount_field"] else export.amount_fields
    mapping = [MappingEntry(name, "quantity", optional=True) for name in amounts]
    mapping.append(MappingEntry(export.id_field, "id", optional=True))
    if not options["warehouse_id"]:
        mapping.append(MappingEntry(export.location_field, "warehouse"))
    return mapping


class LocationRows:
    """The rewriting of one supplier's export into rows of one location each."""

    def __init__(
        self,
        export: StockExport,
        supplier_id: int,
        options: Mapping[str, Any],
        header: Sequence[str],
        own: int,
    ) -> None:
        """Find the columns with locations. Raises Unreadable if the header names no known location."""
        self.export, self.own, self.header = export, own, list(header)
        warehouses = Warehouse.objects.filter(supplier_id=supplier_id).order_by("pk")
        self.warehouses = {pk: name for name, pk in warehouses.values_list("name", "pk")}
        # A later assignment has priority: exact names over names in lower case, and these names over ids.
        self.names = {str(pk): name for pk, name in self.warehouses.items()}
        self.names |= {name.casefold(): name for name in self.warehouses.values()}
        self.names |= {name: name for name in self.warehouses.values()}
        # With warehouse_id, all stock belongs to this warehouse; the location's name does not matter.
        self.only = self.warehouses.get(options.get("warehouse_id") or 0, "")
        self.read: set[str] = set()
        # The number of skipped rows of each unknown location. The number is 0 if the location is a column.
        self.unknown: Counter[str] = Counter()
        # An empty quantity is skipped. But a full file would set this stock to 0, so there the row is kept,
        # and the pipeline rejects it.
        self.keeps_empty = options.get("mode") == FULL
        # The lines of the file without a quantity.
        self.silent: list[int] = []
        self.location = self._find([export.location_field])
        amount_field = options.get("amount_field")
        self.amount = self._find([amount_field] if amount_field else export.amount_fields)
        self.columns: dict[int, str] = {}
        if self.location is None:
            self._find_columns()

    def _find(self, names: Sequence[str]) -> int | None:
        indexes = (find(self.header, name, range(self.own)) for name in names)
        return next((index for index in indexes if index is not None), None)

    def _find_columns(self) -> None:
        """Find the location columns of a file with one column per location."""
        others = [
            index
            for index, name in enumerate(self.header)
            if index >= self.own and name and name.casefold() not in self.export.other_fields
        ]
        named = {index: self._warehouse(self.header[index], rows=0) for index in others}
        self.columns = {index: name for index, name in named.items() if name}
        self._check_columns()
        if not self.columns:
            raise self._no_location()
        self.other_columns = [index for index in range(len(self.header)) if index not in named]
        self.header = [self.header[index] for index in self.other_columns]
        self.header += [self.export.location_field, self.export.amount_fields[0]]

    def _check_columns(self) -> None:
        """Raise Unreadable if two columns mean the same warehouse."""
        columns: dict[str, str] = {}
        for index, warehouse in self.columns.items():
            column = self.header[index][:LONGEST_SHOWN]
            if first := columns.get(warehouse):
                message = f"The columns {first!r} and {column!r} both mean the warehouse {warehouse!r}."
                raise Unreadable("same_warehouse", f"{message} Delete one of them.")
            columns[warehouse] = column

    def _warehouse(self, location: str, rows: int = 1) -> str:
        """Return the name of the location's warehouse, or an empty text for an unknown location.

        Raises Unreadable if all stock belongs to one warehouse, but the file names several locations.
        """
        warehouse = self.only or self.names.get(location) or self.names.get(location.casefold(), "")
        if not warehouse:
            self.unknown[location] += rows
            return ""
        self.read.add(location)
        if self.only and len(self.read) > 1:
            listed = " and ".join(sorted(repr(name[:LONGEST_SHOWN]) for name in self.read))
            message = f"The file has stock of {listed}. Leave warehouse_id out, so that names decide."
            raise Unreadable("several_locations", message)
        return warehouse

    def rewrite(self, record: Record) -> Iterator[Record]:
        for index, warehouse in self.columns.items():
            quantity = self._quantity(record, index)
            if quantity or self.keeps_empty:
                others = [record.cells[other] for other in self.other_columns]
                yield replace(record, cells=[*others, warehouse, quantity])
        if self.location is None:
            return
        warehouse = self._warehouse(record.cells[self.location].strip())
        if self.amount is None:
            yield record
        elif warehouse:
            quantity = self._quantity(record, self.amount)
            if not (quantity or self.keeps_empty):
                return
            cells = list(record.cells)
            cells[self.location], cells[self.amount] = warehouse, quantity
            yield replace(record, cells=cells)

    def _quantity(self, record: Record, index: int) -> str:
        """Return the quantity as text: `0` if the location does not stock the variant or has oversold it.

        An empty cell gives an empty text.
        """
        cell = record.cells[index].strip()
        if not cell:
            self.silent.append(record.line)
        elif cell.casefold() in self.export.not_stocked or OVERSOLD.fullmatch(cell):
            return "0"
        return cell

    def finish(self) -> list[str]:
        if self.unknown and not self.read:
            raise self._no_location()
        warnings = []
        if self.unknown:
            skipped = f"Stock of unknown warehouses was skipped: {self._unknown_locations()}"
            warnings.append(f"{skipped}. Your warehouses are {self._own_warehouses()}.")
        if self.silent and not self.keeps_empty:
            lines = list(dict.fromkeys(self.silent))
            listed = ", ".join(map(str, lines[:SHOWN])) + (" …" if len(lines) > SHOWN else "")
            warnings.append(
                f"Cells without a quantity were skipped. Their stock is unchanged: lines {listed}."
            )
        return warnings

    def _no_location(self) -> Unreadable:
        locations = f"It names {self._unknown_locations()}" if self.unknown else "It names no warehouse"
        message = (
            f"The file has no stock of your warehouses. {locations}; yours are {self._own_warehouses()}."
        )
        hint = (
            "Send warehouse_id if all stock is in one warehouse,"
            " or ask the operator to name your warehouses as the file does."
        )
        return Unreadable("unknown_location", f"{message} {hint}")

    def _unknown_locations(self) -> str:
        shown = [
            f"{name[:LONGEST_SHOWN]!r} ({count} row{'s' if count > 1 else ''})"
            if count
            else repr(name[:LONGEST_SHOWN])
            for name, count in self.unknown.most_common(SHOWN)
        ]
        return ", ".join(shown) + (" …" if len(self.unknown) > SHOWN else "")

    def _own_warehouses(self) -> str:
        return ", ".join(map(repr, list(self.warehouses.values())[:SHOWN])) or "none"

"""The importer of stock files, for the import pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from psycopg.sql import Composable

from accounts.models import Supplier
from api.errors import Invalid
from catalog.models import Variant
from catalog.snapshot import take_snapshot_after_commit
from imports.models import ImportJob, ImportPolicy
from imports.pipeline.columns import FileColumn, RowRule, TextColumn
from imports.pipeline.context import BatchResult, ImportContext
from imports.pipeline.importer import Lookup, RangeImporter
from imports.pipeline.mapping import MappingEntry
from imports.pipeline.number_columns import NumberColumn
from imports.pipeline.rewritten_sheet import Rewriting
from inventory.arrivals import stock_arrived
from inventory.elements import LONGEST
from inventory.importing import forecast, full_files, landing, locations, matching, rules, since
from inventory.importing.locations import LocationRows, export_of
from inventory.importing.restock_column import RestockColumn
from inventory.models import StockLevel, Warehouse


class StockImporter(RangeImporter):
    """The importer of stock counts. It finds levels by identifier and warehouse, and sets `on_hand`."""

    automatic = False
    naming_hint = "If they have other names, name them with id_field and amount_field."
    tables: ClassVar[Mapping[str, Sequence[str]]] = {
        Variant._meta.db_table: ("id", "supplier_id", "sku"),
        StockLevel._meta.db_table: ("variant_id", "warehouse_id"),
    }
    columns: ClassVar[Mapping[str, FileColumn]] = {
        "id": TextColumn("sku", required=True, example="TSHIRT-RED-M", longest=LONGEST, is_key=True),
        "quantity": NumberColumn("quantity", required=True, example="25", decimals=0),
        "warehouse": TextColumn("warehouse", required=True, longest=LONGEST, hidden=True),
        "expected_at": RestockColumn("expected_at", hidden=True),
    }

    def columns_for(self, options: Mapping[str, Any]) -> Mapping[str, FileColumn]:
        return {
            **self.columns,
            "id": TextColumn(options["id_type"], required=True, longest=LONGEST, is_key=True),
        }

    def entries(self, options: Mapping[str, Any]) -> list[MappingEntry]:
        if export := export_of(options):
            return locations.entries(export, options)
        entries = [MappingEntry(options["id_field"], "id"), MappingEntry(options["amount_field"], "quantity")]
        if options.get("warehouse_field"):
            entries.append(MappingEntry(options["warehouse_field"], "warehouse"))
        return [*entries, MappingEntry("expected_at", "expected_at", optional=True)]

    def mandatory(self, options: Mapping[str, object]) -> list[str]:
        return list(dict.fromkeys(entry.field for entry in self.entries(options) if not entry.optional))

    def rewriting(
        self, supplier_id: int, options: Mapping[str, object], header: Sequence[str], own: int
    ) -> Rewriting | None:
        export = export_of(options)
        return LocationRows(export, supplier_id, options, header, own) if export else None

    def same_row(self, context: ImportContext) -> Composable:
        return matching.same_row(context)

    def check(self, supplier: Supplier, options: Mapping[str, Any]) -> dict[str, object]:
        number = options.get("warehouse_id")
        if number and not Warehouse.objects.filter(supplier=supplier, pk=number).exists():
            message = f"You have no warehouse {number}. GET …/warehouses lists your warehouses."
            raise Invalid.at("warehouse_id", message, "not_found")
        return dict(options)

    def key(self, context: ImportContext) -> list[Composable]:
        return matching.key(context)

    def prepare(self, context: ImportContext) -> None:
        matching.prepare(context)

    def lookup(self, context: ImportContext) -> Lookup:
        return matching.lookup(context)

    def rules(self, context: ImportContext) -> list[tuple[str, RowRule]]:
        return rules.rules(context)

    def is_first(self, context: ImportContext) -> bool:
        return not StockLevel.objects.filter(warehouse_id__in=matching.warehouse_ids(context)).exists()

    def complete(self, context: ImportContext) -> None:
        since.add_moved(context)
        since.mark_refused(context)

    def land(self, context: ImportContext) -> BatchResult:
        return landing.land(context)

    def forecast(self, context: ImportContext) -> BatchResult:
        return forecast.forecast(context)

    def finish(self, context: ImportContext) -> dict[str, object]:
        return full_files.finish(context)

    def forecast_finish(self, context: ImportContext) -> dict[str, object]:
        return full_files.forecast_finish(context)

    def approval_reasons(self, context: ImportContext, policy: ImportPolicy) -> list[str]:
        return forecast.approval_reasons(context, policy)

    def outlook(self, context: ImportContext) -> dict[str, object]:
        return forecast.outlook(context)

    def ground(self, context: ImportContext) -> list[int]:
        return sorted(matching.imported_warehouses(context))

    def waiting_ground(self, job: ImportJob) -> list[int]:
        return job.report.get("warehouse_ids") or [job.options.get("warehouse_id") or 0]

    def after_commit(self) -> None:
        take_snapshot_after_commit()
        stock_arrived(None)

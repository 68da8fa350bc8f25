"""The importer of product files, for the import pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from psycopg.sql import Composable

from catalog.importing import forecast, landing, matching, rules
from catalog.importing.columns import COLUMNS
from catalog.models import Variant
from catalog.snapshot import take_snapshot_after_commit
from imports.models import ImportPolicy
from imports.pipeline.columns import FileColumn, RowRule
from imports.pipeline.context import BatchResult, ImportContext
from imports.pipeline.importer import Lookup, RangeImporter


class ProductImporter(RangeImporter):
    """The importer of products. It finds variants by sku, and creates or changes them."""

    maps_by_header = True
    keeps_newer = False
    naming_hint = "If they have other names, map them with field_mapping."
    tables: ClassVar[Mapping[str, Sequence[str]]] = {Variant._meta.db_table: ("id", "supplier_id", "sku")}
    columns: ClassVar[Mapping[str, FileColumn]] = COLUMNS

    def key(self, context: ImportContext) -> list[Composable]:
        return [context.mapped.values["sku"]]

    def mandatory(self, options: Mapping[str, object]) -> list[str]:
        return ["sku"]

    def lookup(self, context: ImportContext) -> Lookup:
        return matching.lookup(context)

    def rules(self, context: ImportContext) -> list[tuple[str, RowRule]]:
        return rules.rules(context)

    def is_first(self, context: ImportContext) -> bool:
        return not Variant.objects.filter(supplier_id=context.supplier_id).exists()

    def land(self, context: ImportContext) -> BatchResult:
        return landing.land(context)

    def forecast(self, context: ImportContext) -> BatchResult:
        return forecast.forecast(context)

    def outlook(self, context: ImportContext) -> dict[str, object]:
        return forecast.outlook(context)

    def approval_reasons(self, context: ImportContext, policy: ImportPolicy) -> list[str]:
        return forecast.approval_reasons(context, policy)

    def after_commit(self) -> None:
        take_snapshot_after_commit()

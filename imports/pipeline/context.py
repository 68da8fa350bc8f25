"""The values that the steps of one job share, and the result of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

from psycopg.sql import SQL, Composable, Literal

from imports.models import ImportJob
from imports.pipeline.mapping_sql import MappedFile
from imports.staging_table import StagingTable

# The rows of the current range that differ from the stored ones.
BATCH = SQL("pg_temp.import_batch")


@dataclass
class ImportContext:
    """One running job."""

    job: ImportJob
    staging: StagingTable
    mapped: MappedFile
    # The number of rows in each range, by the line before the range.
    sizes: dict[int, int] = field(default_factory=dict)
    # Whether nothing was stored when this worker began; then rows are not compared.
    first: bool = False

    @property
    def supplier_id(self) -> int:
        return self.job.supplier_id

    @property
    def supplier(self) -> Composable:
        """Return the supplier's id in SQL as a value that is hidden from the planner.

        If the planner saw the id of a supplier that its statistics do not know, it would expect one row, and
        read all of the supplier's rows to find each.
        """
        return SQL("(SELECT {}::bigint)").format(Literal(self.supplier_id))


@dataclass
class BatchResult:
    """The result of a batch, or in a dry run the expected result."""

    created: int = 0
    updated: int = 0
    report: dict[str, object] = field(default_factory=dict)

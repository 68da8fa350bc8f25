"""The values that the steps of one job share, and the result of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

from psycopg.sql import SQL, Composable, Literal

from imports.models import ImportJob
from imports.pipeline.mapping_sql import MappedFile
from imports.staging_table import StagingTable

# The temporary table with the rows of the current range that differ from the stored rows.
BATCH = SQL("pg_temp.import_batch")


@dataclass
class ImportContext:
    """A running job, with the values that its steps share."""

    job: ImportJob
    staging: StagingTable
    mapped: MappedFile
    # The number of rows in each range. The key is the last line before the range.
    sizes: dict[int, int] = field(default_factory=dict)
    # Whether there were no stored rows when this worker began. If so, the file's rows are not compared with
    # stored rows.
    first: bool = False

    @property
    def supplier_id(self) -> int:
        return self.job.supplier_id

    @property
    def supplier(self) -> Composable:
        """Return the supplier's id in SQL as a value that is hidden from the planner.

        If the planner saw an id that its statistics do not know, it would expect one row for this supplier.
        It would then read all of the supplier's rows again for each row of the file.
        """
        return SQL("(SELECT {}::bigint)").format(Literal(self.supplier_id))


@dataclass
class BatchResult:
    """The result of a batch. In a dry run, it is the expected result."""

    created: int = 0
    updated: int = 0
    report: dict[str, object] = field(default_factory=dict)

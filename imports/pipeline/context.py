"""What the steps of one job share, and what a batch did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psycopg.sql import SQL, Composable, Literal

from imports.models import ImportJob
from imports.pipeline.mapping_sql import MappedFile
from imports.staging_table import StagingTable

# The rows of the range that is being worked on: those that differ from what is stored.
BATCH = SQL("pg_temp.import_batch")


@dataclass
class ImportContext:
    """One job under way."""

    job: ImportJob
    staging: StagingTable
    mapped: MappedFile
    # How many rows each range has, by the line that it begins after.
    sizes: dict[int, int] = field(default_factory=dict)
    # Whether nothing was there that rows could be compared with when this worker began: it is not looked for.
    first: bool = False

    @property
    def supplier_id(self) -> int:
        return self.job.supplier_id

    @property
    def supplier(self) -> Composable:
        """The supplier's id in SQL, as a value that the planner does not know.

        It would look it up in its statistics, believe of a supplier they do not know yet that it has one
        row, and then find each row by reading all that the supplier has.
        """
        return SQL("(SELECT {}::bigint)").format(Literal(self.supplier_id))


@dataclass
class BatchResult:
    """What a batch did, or (in a dry run) would do."""

    created: int = 0
    updated: int = 0
    report: dict[str, Any] = field(default_factory=dict)

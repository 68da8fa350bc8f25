"""The base classes of importers. An importer has the columns of a kind, and compares and writes its rows.

The pipeline knows files, ranges, bookmarks and rejects; importers know the domain. The apps of the domain
register their importers with `imports.kinds`, because the app `imports` must not import these apps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from psycopg.sql import SQL, Composable

from accounts.models import Supplier
from imports.models import ImportJob, ImportPolicy
from imports.pipeline.columns import FileColumn, RowRule
from imports.pipeline.context import BatchResult, ImportContext
from imports.pipeline.mapping import MappingEntry
from imports.pipeline.rewritten_sheet import Rewriting


@dataclass(frozen=True)
class Lookup:
    """The joins that find the stored row for each row of a file.

    `joins` follow `FROM staging AS s`; `columns` are added to the batch; the condition `unchanged` is
    true for rows that need no change.
    """

    joins: Composable
    columns: Mapping[str, Composable]
    unchanged: Composable


class Importer(ABC):
    """One kind of import: its columns, and the rules for the whole file.

    The subclasses `RangeImporter` and `row_importer.RowImporter` declare how rows are written.
    """

    # A sentence that explains how a request names the file's own columns.
    naming_hint: ClassVar[str] = ""
    columns: ClassVar[Mapping[str, FileColumn]]
    # Whether unmapped columns fill the fields of the same name.
    automatic: ClassVar[bool] = True
    # Whether a built-in mapping may be chosen because it fits the file's header.
    maps_by_header: ClassVar[bool] = False
    # Whether an older file leaves the values of newer files unchanged.
    keeps_newer: ClassVar[bool] = True

    def columns_for(self, options: Mapping[str, object]) -> Mapping[str, FileColumn]:
        """Return the fields that a file with these options may fill, by name."""
        return self.columns

    def template(self) -> list[FileColumn]:
        """Return the columns of the template."""
        return [column for column in self.columns.values() if not column.hidden]

    @abstractmethod
    def key(self, context: ImportContext) -> list[Composable]:
        """Return the expressions over a staged row, `s`, that identify it.

        If several rows have the same key, the last row counts.
        """

    def rewriting(
        self, supplier_id: int, options: Mapping[str, object], header: Sequence[str], own: int
    ) -> Rewriting | None:
        """Return the rewriting of a file with this header before staging, or None.

        Raises Unreadable.
        """
        return None

    def entries(self, options: Mapping[str, Any]) -> list[MappingEntry]:
        """Return a mapping entry for each column of the file that the options map to a field."""
        return [MappingEntry(**each) for each in options.get("field_mapping", [])]

    @abstractmethod
    def mandatory(self, options: Mapping[str, object]) -> list[str]:
        """Return the fields that every file of this kind needs."""

    def needed_columns(self, options: Mapping[str, object]) -> str:
        """Return a sentence that lists the needed columns and explains how to name the file's own columns."""
        columns = self.columns_for(options)
        required = [column.name for column in columns.values() if column.required and not column.hidden]
        needed = [columns[name].name for name in self.mandatory(options)]
        listed = ", ".join(dict.fromkeys([*needed, *required]))
        return f"The file needs the columns {listed}. {self.naming_hint}".strip()

    def check_columns(self, read: Collection[str], ignored: Iterable[str]) -> None:
        """Raise Unreadable if an ignored column was probably meant for a field that no column fills."""
        return

    def finish(self, context: ImportContext) -> dict[str, object]:
        """Do the work after the last row was written, and return additions to the job's report."""
        return {}

    def forecast_finish(self, context: ImportContext) -> dict[str, object]:
        """Return the report that `finish` would give."""
        return {}

    def approval_reasons(self, context: ImportContext, policy: ImportPolicy) -> list[str]:
        """Return the reasons why this file should wait for a person, as sentences."""
        return []

    def outlook(self, context: ImportContext) -> dict[str, object]:
        """Return the largest changes of a waiting file, old and new, for the person who decides."""
        return {}

    def ground(self, context: ImportContext) -> list[int]:
        """Return the ids of the warehouses that a file covers; empty for kinds without warehouses."""
        return []

    def waiting_ground(self, job: ImportJob) -> list[int]:
        """Return the ids of the warehouses that a job covers while it waits for approval."""
        return []

    def after_commit(self) -> None:
        """Do work after the commit of a range that changed rows, and after the commit of the whole job."""
        return

    def check(self, supplier: Supplier, options: Mapping[str, object]) -> dict[str, object]:
        """Return the options if this supplier may use them. Raises Invalid."""
        return dict(options)


class RangeImporter(Importer):
    """An importer that compares rows with stored rows and writes them range by range."""

    # The database tables in which stored rows are looked up, and the columns of these lookups.
    tables: ClassVar[Mapping[str, Sequence[str]]]

    def prepare(self, context: ImportContext) -> None:
        """Look up the values that all ranges need, before the first range."""
        return

    @abstractmethod
    def lookup(self, context: ImportContext) -> Lookup:
        """Return the joins that find the stored row for each row of the file."""

    @abstractmethod
    def rules(self, context: ImportContext) -> list[tuple[str, RowRule]]:
        """Return further rules for a row, over the columns of a batch, `b`."""

    @abstractmethod
    def is_first(self, context: ImportContext) -> bool:
        """Return whether there are no stored rows yet with which the file could be compared."""

    def same_row(self, context: ImportContext) -> Composable:
        """Return the condition that a row of the batch, `b`, was made from a staged row, `s`."""
        return SQL("s.line = b.line")

    def complete(self, context: ImportContext) -> None:
        """Fill in values of the batch that the join of `lookup` did not find, and mark wrong rows."""
        return

    @abstractmethod
    def land(self, context: ImportContext) -> BatchResult:
        """Write the rows of the batch that are not wrong. Lock stored rows in one order, to avoid deadlocks.

        Mark rows that are found to be wrong after the lock. The pipeline stores them as rejects.
        """

    @abstractmethod
    def forecast(self, context: ImportContext) -> BatchResult:
        """Return the result that `land` would return now. Change nothing."""


_importers: dict[str, Importer] = {}


def register(kind: str, importer: Importer) -> None:
    _importers[kind] = importer


def importer_of(kind: str) -> Importer:
    return _importers[kind]

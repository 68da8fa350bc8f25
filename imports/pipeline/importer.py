"""What an importer declares: its columns, what a row is compared with, and how a batch lands.

The pipeline knows files, ranges, bookmarks and rejects; importers know the domain. They register here
when their app is ready, since imports point the other way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from psycopg.sql import SQL, Composable

from accounts.models import Supplier
from imports.models import ImportPolicy
from imports.pipeline.columns import Column, RowRule
from imports.pipeline.context import BatchResult, ImportContext
from imports.pipeline.mapping import Entry
from imports.pipeline.rewritten_sheet import Rewriting


@dataclass(frozen=True)
class Lookup:
    """How a batch finds what its rows are about.

    `joins` follow `FROM staging AS s`; `columns` are what they add to the batch; `unchanged` holds for rows
    that need nothing done.
    """

    joins: Composable
    columns: Mapping[str, Composable]
    unchanged: Composable


class Importer(ABC):
    """One kind of import: what its columns are, and what is asked of the whole file.

    How its rows land is said by one of the two below it: `RangeImporter`, `row_importer.RowImporter`.
    """

    kind: ClassVar[str]
    columns: ClassVar[Mapping[str, Column]]
    # Whether columns that no option names fill the fields whose names they bear.
    automatic: ClassVar[bool] = True

    def columns_for(self, options: Mapping[str, Any]) -> Mapping[str, Column]:
        """The fields that a file with these options may fill, by name."""
        return self.columns

    def template(self) -> list[Column]:
        """The columns of the template."""
        return [column for column in self.columns.values() if not column.hidden]

    @abstractmethod
    def key(self, context: ImportContext) -> list[Composable]:
        """What must come only once in a file, as expressions over `s`."""

    def rewriting(
        self, supplier_id: int, options: Mapping[str, Any], header: Sequence[str], own: int
    ) -> Rewriting | None:
        """What becomes of the records of a file with this header before they are staged; None for nothing.

        Raises Unreadable.
        """
        return None

    def entries(self, options: Mapping[str, Any]) -> list[Entry]:
        """The columns of the file that the options name, with the field that each fills."""
        return [Entry(**each) for each in options.get("field_mapping", [])]

    @abstractmethod
    def mandatory(self, options: Mapping[str, Any]) -> list[str]:
        """The fields without which no file makes sense."""

    def finish(self, context: ImportContext) -> dict[str, Any]:
        """What is left to do when all rows have landed; goes into the job's report."""
        return {}

    def forecast_finish(self, context: ImportContext) -> dict[str, Any]:
        """What `finish` would do."""
        return {}

    def approval_reasons(self, context: ImportContext, policy: ImportPolicy) -> list[str]:
        """Why this file should wait for a person, as sentences."""
        return []

    def outlook(self, context: ImportContext) -> dict[str, Any]:
        """What a file that waits would do, for whoever decides: the largest changes, old and new."""
        return {}

    def ground(self, context: ImportContext) -> list[int]:
        """What of its kind a file is about, such as its warehouses; empty where it is about all of it."""
        return []

    def after_commit(self) -> None:
        """Called after the commit of what changed something."""
        return

    def check(self, supplier: Supplier, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a request, if this supplier can have them. Raises Invalid."""
        return dict(options)


class RangeImporter(Importer):
    """One kind of import whose rows are compared with what is stored, and land range by range."""

    # The database tables that its rows are looked up in, and by which columns.
    tables: ClassVar[Mapping[str, Sequence[str]]]

    def prepare(self, context: ImportContext) -> None:
        """Whatever has to be looked up once, before the ranges."""
        return

    @abstractmethod
    def lookup(self, context: ImportContext) -> Lookup:
        """How rows find what they are about."""

    @abstractmethod
    def rules(self, context: ImportContext) -> list[tuple[str, RowRule]]:
        """What else can be wrong with a row, over the columns of a batch, `b`."""

    @abstractmethod
    def is_first(self, context: ImportContext) -> bool:
        """Whether there is nothing yet that rows could be compared with."""

    def same_row(self, context: ImportContext) -> Composable:
        """Whether a row of a batch, `b`, is a staged one, `s`, of the range."""
        return SQL("s.line = b.line")

    def complete(self, context: ImportContext) -> None:
        """Add to a fresh batch what its one join could not find, and mark what is wrong for that."""
        return

    @abstractmethod
    def land(self, context: ImportContext) -> BatchResult:
        """Write the good rows of the batch, under locks in the one order.

        What only shows under the locks to be wrong is marked, and left for the pipeline to take out.
        """

    @abstractmethod
    def forecast(self, context: ImportContext) -> BatchResult:
        """What `land` would do."""


_importers: dict[str, Importer] = {}


def register(importer: Importer) -> None:
    _importers[importer.kind] = importer


def importer_of(kind: str) -> Importer:
    return _importers[kind]

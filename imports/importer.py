"""What an importer declares: its columns, what a row is compared with, and how a batch lands.

The pipeline knows files, ranges, bookmarks and rejects; importers know the domain. They register here
when their app is ready, since imports point the other way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from psycopg.sql import SQL, Composable, Literal

from imports.columns import Column, Fault
from imports.mapping import Entry

if TYPE_CHECKING:
    from accounts.models import Supplier
    from imports.compiling import Compiled
    from imports.models import ImportJob, ImportPolicy
    from imports.staging import Staging


@dataclass
class Run:
    """One job under way: what its importer needs to know."""

    job: ImportJob
    staging: Staging
    compiled: Compiled
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
class Landed:
    """What a batch did, or (in a dry run) would do."""

    created: int = 0
    updated: int = 0
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Lookup:
    """How a batch finds what its rows are about.

    `joins` follow `FROM staging AS s`; `columns` are what they add to the batch; `unchanged` tells rows
    that need nothing done.
    """

    joins: Composable
    columns: Mapping[str, Composable]
    unchanged: Composable


class Importer(ABC):
    """One kind of import."""

    kind: ClassVar[str]
    columns: ClassVar[Mapping[str, Column]]
    # The database tables that its rows are looked up in, and by which columns.
    tables: ClassVar[Mapping[str, Sequence[str]]]
    # Whether columns that no option names fill the fields whose names they bear.
    automatic: ClassVar[bool] = True

    def columns_for(self, options: Mapping[str, Any]) -> Mapping[str, Column]:
        """The fields that a file with these options may fill, by name."""
        return self.columns

    def template(self) -> list[Column]:
        """The columns of the template."""
        return list(self.columns.values())

    @abstractmethod
    def key(self, run: Run) -> list[Composable]:
        """What must come only once in a file, as expressions over `s`."""

    def entries(self, options: Mapping[str, Any]) -> list[Entry]:
        """The columns of the file that the options name, with the field that each fills."""
        return [Entry(**each) for each in options.get("field_mapping", [])]

    @abstractmethod
    def mandatory(self, options: Mapping[str, Any]) -> list[str]:
        """The fields without which no file makes sense."""

    def prepare(self, run: Run) -> None:
        """Whatever has to be looked up once, before the ranges."""
        return

    @abstractmethod
    def lookup(self, run: Run) -> Lookup:
        """How rows find what they are about."""

    @abstractmethod
    def faults(self, run: Run) -> list[tuple[str, Fault]]:
        """What else can be wrong with a row, over the columns of a batch, `b`."""

    @abstractmethod
    def is_first(self, run: Run) -> bool:
        """Whether there is nothing yet that rows could be compared with."""

    @abstractmethod
    def land(self, run: Run) -> Landed:
        """Write the good rows of the batch, under locks in the one order."""

    @abstractmethod
    def forecast(self, run: Run) -> Landed:
        """What `land` would do."""

    def finish(self, run: Run) -> dict[str, Any]:
        """What is left to do when all ranges have landed; goes into the job's report."""
        return {}

    def foresee(self, run: Run) -> dict[str, Any]:
        """What `finish` would do."""
        return {}

    def brake(self, run: Run, policy: ImportPolicy) -> list[str]:
        """Why this file should wait for a person, as sentences."""
        return []

    def landed(self) -> None:
        """Called after the commit of a range that changed something."""
        return

    def check(self, supplier: Supplier, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a request, if this supplier can have them. Raises Invalid."""
        return dict(options)


_importers: dict[str, Importer] = {}


def register(importer: Importer) -> None:
    _importers[importer.kind] = importer


def importer_of(kind: str) -> Importer:
    return _importers[kind]

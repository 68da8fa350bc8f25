"""Choose the mapping of an open file, rewrite its records, and bind its columns to fields.

An import and a preview run the same steps, so that the preview shows the values that the import would read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from imports.pipeline.columns import FileColumn, Style
from imports.pipeline.errors import Unreadable
from imports.pipeline.expression_parser import parse_assignments
from imports.pipeline.header_binding import Bound, bind
from imports.pipeline.importer import Importer
from imports.pipeline.mapping_sql import MappedFile
from imports.pipeline.rewritten_sheet import Rewriting
from imports.pipeline.row_shape import RowShape, bind_rows, built_field
from imports.saved_mappings import known_by_header


class OpenFile(Protocol):
    """A file whose header has been read: a sheet of an import, or the sample of a preview."""

    @property
    def header(self) -> list[str]: ...
    @property
    def own(self) -> int: ...
    @property
    def delimiter(self) -> str: ...


F = TypeVar("F", bound=OpenFile)


@dataclass(frozen=True)
class PreparedFile(Generic[F]):
    """An open file with the results of the steps so far."""

    importer: Importer
    supplier_id: int
    currency: str
    options: Mapping[str, Any]
    file: F
    rewrite: Callable[[F, Rewriting], F]
    """The function that applies a rewriting to `file`. Sheets and samples need different functions."""
    hint: str = ""
    rewriting: Rewriting | None = None
    shape: RowShape = field(default_factory=RowShape)
    bound: Bound = field(default_factory=lambda: Bound({}, [], []))

    @property
    def columns(self) -> Mapping[str, FileColumn]:
        columns = self.importer.columns_for(self.options)
        return {name: column.in_currency(self.currency) for name, column in columns.items()}

    @property
    def filled(self) -> set[str]:
        """Return the fields that a column fills or the options compute."""
        computed = parse_assignments(self.options.get("math_transformer", ""), self.columns)
        built = {built_field(self.columns)} if self.shape.sku else set()
        return {*self.bound.fields, *(assignment.field for assignment in computed), *built}

    def mapped(self, styles: Mapping[str, Style] | None = None) -> MappedFile:
        """Return the fields as SQL. Raises Unreadable if a computed field reads a field without a column."""
        numeric = [name for name, column in self.columns.items() if column.numeric]
        assignments = parse_assignments(self.options.get("math_transformer", ""), numeric)
        known = set(self.bound.fields)
        for assignment in assignments:
            if missing := sorted(assignment.inputs - known):
                message = (
                    f"math_transformer computes {assignment.field} from {missing[0]},"
                    " which the file does not have."
                )
                raise Unreadable("missing_column", message)
            known.add(assignment.field)
        return MappedFile(
            self.columns, self.bound, assignments, self.file.own, dict(styles or {}), self.shape
        )


def choose_mapping(prepared: PreparedFile[F]) -> PreparedFile[F]:
    """Apply the mapping that fits the header, if the options allow it."""
    if not prepared.importer.maps_by_header:
        return prepared
    options, hint = known_by_header(prepared.options, prepared.file.header[prepared.file.own :])
    return replace(prepared, options=options, hint=hint)


def rewrite_records(prepared: PreparedFile[F]) -> PreparedFile[F]:
    """Rewrite the records of a file whose layout the importer's SQL cannot read."""
    file = prepared.file
    rewriting = prepared.importer.rewriting(prepared.supplier_id, prepared.options, file.header, file.own)
    if rewriting is None:
        return prepared
    return replace(prepared, rewriting=rewriting, file=prepared.rewrite(file, rewriting))


def bind_columns(prepared: PreparedFile[F]) -> PreparedFile[F]:
    """Find the columns of the row options and of the fields in the header."""
    header, own, importer = prepared.file.header, prepared.file.own, prepared.importer
    shape = bind_rows(header, prepared.options.get("rows", {}), own)
    entries = importer.entries(prepared.options)
    left_out = prepared.options.get("left_out", ())
    columns = {name: column for name, column in prepared.columns.items() if name not in left_out}
    bound = bind(header, entries, columns, automatic=importer.automatic, own=own)
    bound = bound.without_ignored(header[index] for index in shape.used)
    importer.check_columns(bound.fields, bound.ignored)
    return replace(prepared, shape=shape, bound=bound)


HEADER_STEPS = (choose_mapping, rewrite_records, bind_columns)
"""The steps from the header to the bound columns. Each may raise Unreadable."""

"""The values of a file's first rows under the current mapping, computed with the SQL of the import."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from psycopg.sql import SQL, Composable, Identifier, Literal

from accounts.models import Supplier
from imports.drafts.sample import FileSample, rewritten_sample
from imports.pipeline.errors import Unreadable
from imports.pipeline.header_binding import Bound
from imports.pipeline.header_steps import HEADER_STEPS, PreparedFile
from imports.pipeline.importer import Importer
from imports.pipeline.mapping_sql import MappedFile
from imports.pipeline.number_styles import read_numbers
from imports.pipeline.rejects import as_rows
from imports.pipeline.row_shape import RowShape
from imports.pipeline.row_shaping import shaped
from imports.staging_table import StagingTable

SHOWN = 10


@dataclass(frozen=True)
class Fault:
    """A field with a wrong value, and the reason."""

    field: str
    message: str


@dataclass(frozen=True)
class PreviewRow:
    """A row with the value of each field."""

    line: int
    values: list[str]
    faults: list[Fault]


@dataclass
class Preview:
    """The first rows as an import would read them; `problem` is the reason why the file cannot be read."""

    fields: list[str] = field(default_factory=list)
    rows: list[PreviewRow] = field(default_factory=list)
    bound: Bound | None = None
    missing: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problem: str = ""
    unreadable: int = 0

    @property
    def has_faults(self) -> bool:
        return any(row.faults for row in self.rows)


def preview(
    sample: FileSample, importer: Importer, options: Mapping[str, object], supplier_id: int
) -> Preview:
    """Return how the first rows of a supplier's file would be read with these options."""
    result = Preview(unreadable=sum(1 for record in sample.rows if record.code))
    currency = Supplier.objects.values_list("currency", flat=True).get(pk=supplier_id)
    prepared = PreparedFile(importer, supplier_id, currency, options, sample, rewritten_sample)
    try:
        for step in HEADER_STEPS:
            prepared = step(prepared)
        left_out = prepared.rewriting.finish() if prepared.rewriting else []
        mapped = prepared.mapped()
    except Unreadable as error:
        result.problem = error.message
        return result
    columns, sample = prepared.columns, prepared.file
    result.bound = prepared.bound
    result.warnings = [*filter(None, [prepared.hint]), *prepared.bound.warnings, *left_out]
    result.fields = mapped.fields
    mandatory = importer.mandatory(prepared.options)
    needed = [name for name, column in columns.items() if column.required or name in mandatory]
    result.missing = [columns[name].name for name in needed if name not in mapped.fields]
    whole = [record for record in sample.rows if not record.code]
    if whole and mapped.fields:
        staging = _as_table(sample, whole, prepared.shape)
        result.rows = _rows(staging, read_numbers(prepared, staging, mapped))
    return result


def _as_table(sample: FileSample, rows: Sequence[Any], shape: RowShape) -> StagingTable:
    """Return a staging table whose rows are a VALUES list in SQL instead of a real table."""
    staging = StagingTable(0, len(sample.header))
    columns = SQL(", ").join([Identifier("line"), *staging.columns])
    values = SQL(", ").join(
        SQL("({})").format(SQL(", ").join([Literal(each.line), *map(Literal, each.cells)])) for each in rows
    )
    whole: Composable = SQL("(SELECT * FROM (VALUES {}) AS v ({}))").format(values, columns)
    if shape.changes_rows:
        whole = SQL("({})").format(shaped(staging, whole, shape))
    staging.table = whole
    return staging


def _rows(staging: StagingTable, mapped: MappedFile) -> list[PreviewRow]:
    named = {**mapped.marks, **mapped.values}
    rules = mapped.rules()
    faults: Composable = SQL("'[]'::jsonb")
    if rules:
        faults = SQL(
            "(SELECT coalesce(jsonb_agg(jsonb_build_array(field, message) ORDER BY place), '[]')"
            " FROM (VALUES {}) AS rule (place, field, broken, code, message) WHERE broken AND {})"
        ).format(as_rows(rules), mapped.worth_saying)
    query = SQL(
        "WITH s AS MATERIALIZED (SELECT *, row_number() OVER () AS place"
        " FROM (SELECT * FROM {table} AS t ORDER BY line LIMIT {shown}) AS t)"
        " SELECT b.line, jsonb_build_array({values})::text, ({faults})::text"
        " FROM (SELECT s.line, s.place, {columns} FROM s {steps} OFFSET 0) AS b"
        " JOIN s ON s.place = b.place {steps} ORDER BY b.place"
    ).format(
        table=staging.table,
        shown=Literal(SHOWN),
        values=SQL(", ").join(SQL("b.{}").format(Identifier(name)) for name in mapped.fields),
        faults=faults,
        columns=SQL(", ").join(
            SQL("{} AS {}").format(each, Identifier(name)) for name, each in named.items()
        ),
        steps=mapped.joins,
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        read = cursor.fetchall()
    return [
        PreviewRow(line, list(map(_shown, _json(values))), [Fault(*each) for each in _json(found)])
        for line, values, found in read
    ]


def _json(text: str) -> Any:
    """Parse JSON, but keep numbers as text: 19.50 must not become 19.5."""
    return json.loads(text, parse_float=str, parse_int=str)


UNREADABLE_VALUES = ("NaN", "-infinity", "?")


def _shown(value: object) -> str:
    """Return a value as text. An unreadable value becomes empty: the preview shows its `Fault` instead."""
    if value is None or value in UNREADABLE_VALUES:
        return ""
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, dict):
        return ": ".join(
            str(each) for name, each in sorted(value.items(), key=lambda pair: pair[0] == "value")
        )
    return str(value)

"""Apply the `rows` options of a mapping to a staged file.

Empty cells get the value of the row above, pictures of a product are collected, and unwanted rows are
removed. One statement with window functions creates the changed table. A file without these options stays
unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.pipeline.row_shape import RowShape, trimmed
from imports.sql import execute, row
from imports.staging_table import StagingTable

SHOWN_LINES = 10


@dataclass
class Shaped:
    """The result of the rewriting: the number of rows left out, and warnings."""

    dropped: int = 0
    warnings: list[str] = field(default_factory=list)


def shape_rows(staging: StagingTable, shape: RowShape) -> Shaped:
    """Rewrite a staged file by the row options of its mapping."""
    if not shape.changes_rows:
        return Shaped()
    raw = Identifier(f"{staging.name}_raw")
    execute(SQL("ALTER TABLE {} RENAME TO {}").format(staging.table, raw))
    execute(
        SQL("CREATE UNLOGGED TABLE {} WITH (autovacuum_enabled = false) AS {}").format(
            staging.table, shaped(staging, raw, shape)
        )
    )
    result = _left_out(staging, raw, shape)
    execute(SQL("DROP TABLE {}").format(raw))
    return result


def shaped(staging: StagingTable, raw: Composable, shape: RowShape) -> Composable:
    """Return a query for the rewritten rows, in the file's order."""
    cells = [SQL("s.{}").format(column) for column in staging.columns]
    if not shape.product:
        return SQL("SELECT s.line, {} FROM {} AS s WHERE {}").format(
            SQL(", ").join(cells), raw, _wanted(shape)
        )
    windows: list[Composable] = [SQL("bool_or(is_variant) OVER product AS has_variants")]
    for index in shape.repeat:
        windows.append(SQL("{} AS r{}").format(_repeated(shape, index), Literal(index)))
        cells[index] = SQL("CASE WHEN {} THEN {} ELSE s.r{} END").format(
            is_filled(index), cells[index], Literal(index)
        )
    for index in shape.pictures:
        gathered = SQL("string_agg(CASE WHEN {} THEN {} END, '|') OVER product AS p{}")
        windows.append(gathered.format(is_filled(index), trimmed(index), Literal(index)))
        cells[index] = SQL("s.p{}").format(Literal(index))
    return SQL(
        "SELECT s.line, {cells} FROM (SELECT s.*, {windows} FROM ({keyed}) AS s WINDOW"
        " product AS (PARTITION BY key ORDER BY line"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),"
        " above AS (PARTITION BY key ORDER BY line)) AS s"
        " WHERE is_variant OR NOT has_variants {ordered}"
    ).format(
        cells=SQL(", ").join(
            SQL("{} AS {}").format(cell, column) for cell, column in zip(cells, staging.columns, strict=True)
        ),
        windows=SQL(", ").join(windows),
        keyed=_keyed(raw, shape),
        # Without parent rows, the window functions already return the rows in the file's order.
        ordered=SQL("" if shape.parent is None else "ORDER BY line"),
    )


def _keyed(raw: Composable, shape: RowShape) -> Composable:
    """Return a query that adds a key to each row. All rows of a product have the same key."""
    named = [SQL("nullif({}, '')").format(each.sql(shape.cells)) for each in shape.product]
    own = SQL("coalesce({}, '')").format(SQL(", ").join(named))
    if shape.parent is not None:
        return SQL(
            "SELECT s.*, {} AS is_variant, coalesce(nullif({}, ''), nullif({}, ''), '#' || s.line)"
            ' COLLATE "C" AS key FROM {} AS s WHERE {}'
        ).format(_is_variant(shape), trimmed(shape.parent), own, raw, _wanted(shape))
    return SQL(
        "SELECT s.*, count(*) FILTER (WHERE own <> '' AND own IS DISTINCT FROM above) OVER"
        " (ORDER BY line) AS key FROM (SELECT s.*, lag(own) OVER (ORDER BY line) AS above FROM ("
        "SELECT s.*, {own} AS own, {is_variant} AS is_variant, lpad(s.line::text, 12, '0') AS mark"
        " FROM {raw} AS s WHERE {wanted} OFFSET 0) AS s) AS s"
    ).format(own=own, is_variant=_is_variant(shape), raw=raw, wanted=_wanted(shape))


def _repeated(shape: RowShape, index: int) -> Composable:
    """Return the value that fills an empty cell: the value of the parent, or of the nearest row above.

    The row above must belong to the same product.
    """
    if shape.parent is not None:
        return SQL("max(CASE WHEN {} = '' THEN nullif({}, '') END) OVER product").format(
            trimmed(shape.parent), trimmed(index)
        )
    # Each filled cell gets its line number as a prefix, so max() finds the filled cell of the nearest row
    # above.
    return SQL('substr(max(CASE WHEN {} THEN s.mark || {} END COLLATE "C") OVER above, 13)').format(
        is_filled(index), SQL("s.{}").format(Identifier(f"c{index}"))
    )


def _is_variant(shape: RowShape) -> Composable:
    """Return the condition that a row is a variant, and not only a picture of its product."""
    if not shape.variant or not shape.pictures:
        return SQL("true")
    says, pictures = map(is_filled, shape.variant), map(is_filled, shape.pictures)
    return SQL("({} OR NOT ({}))").format(SQL(" OR ").join(says), SQL(" OR ").join(pictures))


def is_filled(index: int) -> Composable:
    """Return the condition that a cell is not blank.

    The condition tests for an empty cell first, because most cells are empty and this test is fast.
    """
    cell = SQL("s.{}").format(Identifier(f"c{index}"))
    return SQL("({0} IS NOT NULL AND {0} <> '' AND {1} <> '')").format(cell, trimmed(index))


def _wanted(shape: RowShape) -> Composable:
    """Return the condition that the mapping reads a row."""
    if shape.only is None:
        return SQL("true")
    return SQL("lower({}) = ANY({})").format(trimmed(shape.only.index), Literal(list(shape.only.values)))


def _left_out(staging: StagingTable, raw: Composable, shape: RowShape) -> Shaped:
    result = Shaped()
    for condition, one, many in (
        (
            _wanted(shape),
            "1 row holds only a picture of its product and was added to it: line {lines}.",
            "{count} rows hold only pictures of their products and were added to these: lines {lines}.",
        ),
        (
            SQL("NOT ({})").format(_wanted(shape)),
            "1 row was skipped, because the mapping does not read its {field}: line {lines}.",
            "{count} rows were skipped, because the mapping does not read their {field}: lines {lines}.",
        ),
    ):
        count, lines = _gone(staging, raw, condition)
        if count:
            listed = ", ".join(map(str, lines)) + (" …" if count > len(lines) else "")
            name = repr(shape.only.name) if shape.only else ""
            result.dropped += count
            result.warnings.append(
                (one if count == 1 else many).format(count=count, lines=listed, field=name)
            )
    return result


def _gone(staging: StagingTable, raw: Composable, condition: Composable) -> tuple[int, list[int]]:
    """Return how many rows with this condition were left out, and the first of their line numbers."""
    count, lines = row(
        SQL(
            "WITH gone AS MATERIALIZED (SELECT s.line FROM {raw} AS s LEFT JOIN {table} AS t USING (line)"
            " WHERE t.line IS NULL AND {condition})"
            " SELECT count(*), (SELECT array_agg(line ORDER BY line)"
            " FROM (SELECT line FROM gone ORDER BY line LIMIT {shown}) AS l) FROM gone"
        ).format(raw=raw, table=staging.table, condition=condition, shown=Literal(SHOWN_LINES))
    )
    return int(count), list(lines or [])

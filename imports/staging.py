"""A job's file as a table: unlogged, every cell as text, one row a record, `line` where it starts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection, transaction
from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.reading import Block, Record, Sheet, tolerant

MOST_MESSAGE = 500


@dataclass
class Staged:
    """What staging found; `records` counts those below the header, refused ones too."""

    records: int = 0
    refused: int = 0
    last_line: int = 0
    # Rows that the tolerant reader wrote, where the fast path could not go.
    slow: int = 0
    own: int = 0
    again: bool = False


class Staging:
    """The staging table of one job."""

    def __init__(self, job_id: int, width: int = 0) -> None:
        self.job_id, self.width = job_id, width
        self.name = f"imports_staging_{int(job_id)}"
        self.table = Identifier(self.name)
        # Whatever an importer has looked up for this job.
        self.lookup = Identifier(f"{self.name}_lookup")
        # The lines that differ from what is stored, and where they stand.
        self.differing = Identifier(f"{self.name}_differing")
        self.columns = [Identifier(f"c{index}") for index in range(width)]

    def create(self) -> None:
        self.drop()
        sequence = SQL("{}").format(Identifier(f"{self.name}_line"))
        cells = SQL(", ").join(SQL("{} text").format(column) for column in self.columns)
        run(
            SQL(
                # The sequence gives each record its line: COPY alone would not tell.
                "CREATE SEQUENCE {sequence} CACHE 10000;"
                " CREATE UNLOGGED TABLE {table} (line bigint NOT NULL DEFAULT nextval({name}), {cells})"
                " WITH (autovacuum_enabled = false);"
                " ALTER SEQUENCE {sequence} OWNED BY {table}.line"
            ).format(sequence=sequence, table=self.table, name=Literal(f"{self.name}_line"), cells=cells)
        )

    def drop(self) -> None:
        run(SQL("DROP TABLE IF EXISTS {}, {}, {}").format(self.table, self.lookup, self.differing))

    def exists(self) -> bool:
        return bool(value(SQL("SELECT to_regclass({}) IS NOT NULL").format(Literal(self.name))))

    def count(self) -> int:
        """How many rows there are: none after a crash of the database, which empties unlogged tables."""
        return int(value(SQL("SELECT count(*) FROM {}").format(self.table)))

    def load(self, sheet: Sheet, *, own: int = 0, again: bool = False) -> Staged:
        """Take in all records of an open file; broken ones become rejects, unless they are already."""
        staged = Staged(own=own, again=again)
        for block in sheet.blocks():
            if not (block.clean and self.width > 1 and self._copy(block, sheet.delimiter, staged)):
                reader = tolerant(block.data, block.line, sheet.delimiter, final=block.final)
                self._read(reader, staged)
                sheet.give_back(block.data[reader.consumed :])
        staged.last_line = sheet.line
        return staged

    def index(self) -> None:
        """Make ranges of lines cheap to find."""
        run(
            SQL(
                "CREATE INDEX ON {table} USING brin (line) WITH (pages_per_range = 16);"
                " SET LOCAL default_statistics_target = 1; ANALYZE {table} (line)"
            ).format(table=self.table)
        )

    def _copy(self, block: Block, delimiter: str, staged: Staged) -> bool:
        """COPY a clean block as it is; False if PostgreSQL finds fault with a row of it."""
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "SELECT setval(%s, %s, false), pg_relation_size(%s) / 8192",
                    [f"{self.name}_line", block.line, self.name],
                )
                pages = cursor.fetchone()[1]
                copy_in = SQL("COPY {} ({}) FROM STDIN (FORMAT csv, DELIMITER {}, ENCODING 'UTF8')").format(
                    self.table, SQL(", ").join(self.columns), Literal(delimiter)
                )
                with cursor.copy(copy_in) as copy:
                    copy.write(block.data)
                rows = cursor.rowcount
                lines = block.data.count(b"\n") + (not block.data.endswith(b"\n"))
                if rows != lines:
                    self._tell_lines(block.line, rows, max(pages - 1, 0))
        except psycopg.DataError:
            return False
        staged.records += rows
        return True

    def _tell_lines(self, first: int, rows: int, page: int) -> None:
        """Give each record its true line in a block whose cells hold line breaks."""
        cells = SQL(", ").join(self.columns)
        run(
            SQL(
                """
                WITH counted AS (
                    SELECT line, {first} - 1 + sum(1 + breaks) OVER (ORDER BY line) - breaks AS starts
                    FROM {table}, LATERAL (SELECT concat({cells})) AS t (whole),
                        LATERAL (SELECT length(whole) - length(replace(whole, E'\n', ''))) AS b (breaks)
                    WHERE ctid >= {place} AND line >= {first} AND line < {after}
                )
                UPDATE {table} SET line = starts FROM counted
                WHERE ctid >= {place} AND {table}.line = counted.line AND starts <> counted.line
                """
            ).format(
                table=self.table,
                cells=cells,
                first=Literal(first),
                after=Literal(first + rows),
                place=SQL("{}::tid").format(Literal(f"({page},0)")),
            )
        )

    def _read(self, reader: tolerant, staged: Staged) -> None:
        rejects: list[Record] = []
        columns = SQL(", ").join([Identifier("line"), *self.columns])
        with connection.cursor() as cursor:
            copy_in = SQL("COPY {} ({}) FROM STDIN").format(self.table, columns)
            with cursor.copy(copy_in) as copy:
                for record in reader:
                    staged.records += 1
                    checked = self._fitting(record)
                    if checked.code:
                        rejects.append(checked)
                    else:
                        copy.write_row((checked.line, *(cell or None for cell in checked.cells)))
                        staged.slow += 1
            self._reject(rejects, staged)

    def _fitting(self, record: Record) -> Record:
        if record.code or len(record.cells) == self.width:
            return record
        message = f"Has {len(record.cells)} cells where the header has {self.width}."
        return Record(record.line, record.cells, "ragged", message)

    def _reject(self, records: list[Record], staged: Staged) -> None:
        staged.refused += len(records)
        if staged.again:
            return
        with connection.cursor() as cursor:
            copy_in = "COPY imports_reject (job_id, line, field, code, message, cells) FROM STDIN"
            with cursor.copy(copy_in) as copy:
                for record in records:
                    cells = json.dumps(record.cells[staged.own :], ensure_ascii=False)
                    copy.write_row(
                        (self.job_id, record.line, "", record.code, record.message[:MOST_MESSAGE], cells)
                    )


def refresh_statistics(tables: Mapping[str, Sequence[str]]) -> None:
    """Have the planner know of tables that have grown, and the columns by which rows are found there.

    One that it thinks empty it would read whole for each row. What it must know shows in a small sample.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT c.relname FROM pg_class c JOIN pg_stat_user_tables t ON t.relid = c.oid
            WHERE c.relname = ANY(%s) AND c.relnamespace = current_schema()::regnamespace
                AND t.n_live_tup > 3 * greatest(c.reltuples, 1000)
            """,
            [list(tables)],
        )
        for (name,) in cursor.fetchall():
            columns = SQL(", ").join(map(Identifier, tables[name]))
            cursor.execute(
                SQL("SET LOCAL default_statistics_target = 10; ANALYZE (SKIP_LOCKED) {} ({})").format(
                    Identifier(name), columns
                )
            )


def run(query: Composable) -> int:
    """Execute a statement; return the rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.rowcount)


def row(query: Composable) -> tuple[Any, ...]:
    """The one row of a query."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return tuple(cursor.fetchone())


def value(query: Composable) -> Any:
    """The one value of a query."""
    return row(query)[0]

"""Copy a file's records into its staging table: clean blocks by COPY, others record by record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import psycopg
from django.db import connection, transaction
from psycopg.sql import SQL, Identifier, Literal

from imports.pipeline.csv_reader import Block, Sheet
from imports.pipeline.record_checks import checked, is_blank
from imports.pipeline.rejects import MOST_KEPT, write_unreadable
from imports.pipeline.rewritten_sheet import RewrittenSheet
from imports.pipeline.tolerant_reader import Record, TolerantReader
from imports.pipeline.workbook import WorkbookSheet
from imports.pipeline.workbook_parts import Check
from imports.sql import execute, joined
from imports.staging_table import StagingTable

SHOWN_LINES = 10
CHECK_EVERY = 1_000
AnySheet = Sheet | WorkbookSheet | RewrittenSheet


@dataclass
class Staged:
    """The result of staging; `total` counts all records below the header, also refused records."""

    total: int = 0
    refused: int = 0
    last_line: int = 0
    # The number of rows from blocks that were not clean, so that the tolerant reader read these rows.
    slow: int = 0
    # The number and the first lines of rows with only delimiters and blanks. Such rows are not records.
    blank: int = 0
    blank_lines: list[int] = field(default_factory=list)

    @property
    def warnings(self) -> list[str]:
        """Return warnings about skipped rows."""
        if not self.blank:
            return []
        listed = ", ".join(map(str, self.blank_lines)) + (" …" if self.blank > len(self.blank_lines) else "")
        if self.blank == 1:
            return [f"Line {listed} holds only delimiters and blanks; it was skipped."]
        message = f"{self.blank} rows hold only delimiters and blanks; they were skipped: lines {listed}."
        return [message]


class Loader:
    """A loader that copies the records of an open file into a staging table."""

    def __init__(
        self, table: StagingTable, sheet: AnySheet, check: Check = lambda: None, *, again: bool = False
    ) -> None:
        """Set up the loader; `again` means that the job was staged before and its rejects are stored."""
        self.table, self.sheet, self.again = table, sheet, again
        self._check = check
        self.staged = Staged()

    def load(self) -> Staged:
        """Load all records; broken records become rejects."""
        if isinstance(self.sheet, Sheet):
            self._load_blocks(self.sheet)
        else:
            self._read(self.sheet.read())
        self.staged.last_line = self.sheet.line
        return self.staged

    def _load_blocks(self, sheet: Sheet) -> None:
        for block in sheet.blocks():
            self._check()
            if not (block.clean and self.table.width > 1 and self._copy(block)):
                reader = TolerantReader(block.data, block.line, sheet.delimiter, final=block.final)
                self._read(reader)
                sheet.give_back(block.data[reader.consumed :])

    def _copy(self, block: Block) -> bool:
        """COPY a clean block unchanged; return False if PostgreSQL refuses one of its rows."""
        table = self.table
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "SELECT setval(%s, %s, false), pg_relation_size(%s) / 8192",
                    [f"{table.name}_line", block.line, table.name],
                )
                pages = cursor.fetchone()[1]
                copy_in = SQL("COPY {} ({}) FROM STDIN (FORMAT csv, DELIMITER {}, ENCODING 'UTF8')").format(
                    table.table, SQL(", ").join(table.columns), Literal(self.sheet.delimiter)
                )
                with cursor.copy(copy_in) as copy:
                    copy.write(block.data)
                rows = cursor.rowcount
                lines = block.data.count(b"\n") + (not block.data.endswith(b"\n"))
                if rows != lines:
                    self._number_lines(block.line, rows, max(pages - 1, 0))
        except psycopg.DataError:
            return False
        self.staged.total += rows
        return True

    def _number_lines(self, first: int, rows: int, page: int) -> None:
        """Give each record its physical line in a block whose cells hold line breaks."""
        execute(
            SQL(
                """
                WITH counted AS (
                    SELECT line, {first} - 1 + sum(1 + breaks) OVER (ORDER BY line) - breaks AS starts
                    FROM {table}, LATERAL (SELECT {cells}) AS t (whole),
                        LATERAL (SELECT length(whole) - length(replace(whole, E'\n', ''))) AS b (breaks)
                    WHERE ctid >= {place} AND line >= {first} AND line < {after}
                )
                UPDATE {table} SET line = starts FROM counted
                WHERE ctid >= {place} AND {table}.line = counted.line AND starts <> counted.line
                """
            ).format(
                table=self.table.table,
                cells=joined(self.table.columns, ""),
                first=Literal(first),
                after=Literal(first + rows),
                place=SQL("{}::tid").format(Literal(f"({page},0)")),
            )
        )

    def _read(self, reader: Iterable[Record]) -> None:
        refused: list[Record] = []
        columns = SQL(", ").join([Identifier("line"), *self.table.columns])
        with connection.cursor() as cursor:
            copy_in = SQL("COPY {} ({}) FROM STDIN").format(self.table.table, columns)
            with cursor.copy(copy_in) as copy:
                for record in self._records(reader):
                    if record.code:
                        refused.append(record)
                    else:
                        copy.write_row((record.line, *(cell or None for cell in record.cells)))
                        self.staged.slow += 1
        kept = max(0, MOST_KEPT - self.staged.refused)
        self.staged.refused += len(refused)
        if not self.again:
            write_unreadable(self.table.job_id, refused[:kept], own=self.sheet.own)

    def _records(self, reader: Iterable[Record]) -> Iterator[Record]:
        """Yield the records that are not blank, each checked."""
        header, own = self.sheet.header, self.sheet.own
        for record in reader:
            if not record.code and is_blank(record.cells[own:]):
                self.staged.blank += 1
                if len(self.staged.blank_lines) < SHOWN_LINES:
                    self.staged.blank_lines.append(record.line)
                continue
            self.staged.total += 1
            if self.staged.total % CHECK_EVERY == 0:
                self._check()
            yield checked(record, header, own=own)

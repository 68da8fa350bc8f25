"""Importers that carry out rows one after another, each in its own transaction.

A row may lock an order and everything that belongs to it, so transactions over many orders would block each
other. Rows that belong together, such as the rows of one parcel, are carried out in the same transaction.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db import connection, transaction
from psycopg.sql import SQL, Composable, Identifier, Literal

from api.errors import ApiError
from imports.models import ImportJob, Reject
from imports.pipeline.context import ImportContext
from imports.pipeline.errors import Canceled
from imports.pipeline.importer import Importer
from imports.pipeline.rejects import MOST_MESSAGE

ROWS_AT_ONCE = 2_000
MOST_WARNINGS = 20


@dataclass(frozen=True)
class FileRow:
    """A row of the file: its line, the first line of its group, its values and its cells."""

    line: int
    first: int
    values: dict[str, str]
    cells: list[str]


class RowImporter(Importer):
    """An importer that carries out rows one by one, without a comparison with stored rows."""

    @abstractmethod
    def carry_out(self, job: ImportJob, rows: Sequence[Mapping[str, str]]) -> bool:
        """Carry out these rows in the open transaction, and return whether anything changed.

        Raises ApiError, with the faulty field if it is known. The caller then rolls back all changes.
        """

    @abstractmethod
    def repeated(self, job: ImportJob, rows: Sequence[Mapping[str, str]]) -> set[int]:
        """Return the positions of the rows that were carried out before, in this file or another file."""

    def warning(self, job: ImportJob, row: Mapping[str, str], *, repeated: bool) -> str:
        """Return a warning about a row that was carried out, or an empty text.

        `repeated` means that the row was carried out before, in this file or another file.
        """
        return ""

    @abstractmethod
    def together(self, context: ImportContext) -> list[Composable]:
        """Return the expressions over `s` that are equal for rows that belong together."""

    def key(self, context: ImportContext) -> list[Composable]:
        """Return all values as the key, so that equal rows are duplicates.

        Rows without their first mandatory field are never duplicates.
        """
        values = context.mapped.values
        first = self.mandatory(context.job.options)[0]
        return [values[first], *(value for name, value in values.items() if name != first)]

    def carry_out_all(self, context: ImportContext) -> None:
        """Carry out the remaining rows. Raises Canceled, LeaseLost."""
        job = context.job
        for first, rows in groupby(_rows(context, self.together(context)), key=lambda row: row.first):
            job.refresh_from_db(fields=["cancel_requested"])
            if job.cancel_requested:
                raise Canceled
            self._carry_out(job, first, list(rows))

    def _carry_out(self, job: ImportJob, first: int, rows: list[FileRow]) -> None:
        """Carry out a group of rows, count its results and move the bookmark, in one transaction.

        No other worker can carry out the same rows at the same time. The bookmark moves only for the holder
        of the job's lease, and only one job of a supplier and kind runs at a time.
        """
        with transaction.atomic():
            repeated = self.repeated(job, [row.values for row in rows])
            fresh = [row for position, row in enumerate(rows) if position not in repeated]
            counts = Counter({"unchanged": len(repeated), "rows_done": len(rows)})
            result = self._result(job, fresh) if fresh else ""
            if fresh:
                counts[result] += len(fresh)
            done = [] if result == "rejected" else fresh[:1]
            warnings = self._warnings(job, done, [rows[position] for position in sorted(repeated)][:1])
            job.update_if_owner(attempts=0, bookmark=first, **warnings, **counts)

    def _result(self, job: ImportJob, rows: list[FileRow]) -> str:
        """Carry out these rows or store them as rejects. Return the name of the counter that counts them."""
        try:
            with transaction.atomic():
                return "updated" if self.carry_out(job, [row.values for row in rows]) else "unchanged"
        except ApiError as error:
            Reject.objects.bulk_create(_reject(job, row, error) for row in rows)
            return "rejected"

    def _warnings(self, job: ImportJob, done: list[FileRow], repeated: list[FileRow]) -> dict[str, list[str]]:
        """Return the job's `warnings` with the warnings about these rows; empty if no warning is added."""
        if len(job.warnings) >= MOST_WARNINGS:
            return {}
        sentences = [(row.line, self.warning(job, row.values, repeated=False)) for row in done]
        sentences += [(row.line, self.warning(job, row.values, repeated=True)) for row in repeated]
        more = [f"Line {line}: {sentence}" for line, sentence in sentences if sentence]
        return {"warnings": [*job.warnings, *more]} if more else {}


def _reject(job: ImportJob, row: FileRow, error: ApiError) -> Reject:
    fault = error.errors[0] if error.errors else None
    return Reject(
        job=job,
        line=row.line,
        field=fault["field"] if fault else "",
        code=fault["code"] if fault else error.code,
        message=(fault["message"] if fault else error.message)[:MOST_MESSAGE],
        cells=row.cells,
    )


def _rows(context: ImportContext, together: list[Composable]) -> Iterator[FileRow]:
    """Yield the remaining rows, ordered by the first line of their group."""
    names = list(context.mapped.values)
    query = _query(context, together)
    after = (context.job.bookmark, 0)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(query, [context.job.bookmark, *after, ROWS_AT_ONCE])
            page = cursor.fetchall()
        for line, first, cells, *values in page:
            yield FileRow(line, first, dict(zip(names, values, strict=True)), cells)
        if len(page) < ROWS_AT_ONCE:
            return
        after = (page[-1][1], page[-1][0])


def _query(context: ImportContext, together: list[Composable]) -> Composable:
    mapped, own = context.mapped, context.mapped.own
    cells = SQL(", ").join(mapped.raw(index) for index in range(own, context.staging.width))
    values = [SQL("{} AS {}").format(value, Identifier(name)) for name, value in mapped.values.items()]
    return SQL(
        "SELECT * FROM (SELECT s.line, min(s.line) OVER (PARTITION BY {together}) AS first,"
        " ARRAY[{cells}]::text[], {values} FROM {table} AS s {steps}) AS r"
        " WHERE first > %s AND (first, line) > (%s, %s) ORDER BY first, line LIMIT %s"
    ).format(
        together=SQL(", ").join(together) if together else Literal(0),
        cells=cells,
        values=SQL(", ").join(values),
        table=context.staging.table,
        steps=mapped.joins,
    )

"""Importers whose rows are carried out one after another, each in a transaction of its own.

What a row does may lock an order and all that hangs on it: many orders in one transaction would lock each
other out. Rows that belong together, such as those of one parcel, are carried out as one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db import connection, transaction
from psycopg.sql import SQL, Composable, Identifier, Literal

from api.errors import ApiError
from imports.models import ImportJob, Reject
from imports.pipeline.context import ImportContext
from imports.pipeline.errors import Canceled
from imports.pipeline.importer import Importer
from imports.pipeline.rejects import MOST_MESSAGE

ROWS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Row:
    """A row of the file: its line, the first line of the rows that it belongs to, its values, its cells."""

    line: int
    first: int
    values: dict[str, str]
    cells: list[str]


class RowImporter(Importer):
    """One kind of import that is carried out row by row; nothing is compared with what is stored before."""

    @abstractmethod
    def carry_out(self, job: ImportJob, rows: Sequence[Mapping[str, str]]) -> bool:
        """Do what these rows say, in this transaction; return whether that changed anything.

        Raises ApiError, with the field at fault where there is one; then nothing of it is done.
        """

    @abstractmethod
    def together(self, context: ImportContext) -> list[Composable]:
        """What rows have in common that belong together, as expressions over `s`."""

    def key(self, context: ImportContext) -> list[Composable]:
        """A row that comes twice as it is says nothing more; one without its first mandatory field does."""
        values = context.mapped.values
        first = self.mandatory(context.job.options)[0]
        return [values[first], *(value for name, value in values.items() if name != first)]

    def carry_out_all(self, context: ImportContext) -> None:
        """Carry out what is left to do. Raises Canceled, LeaseLost."""
        job = context.job
        for first, rows in groupby(_rows(context, self.together(context)), key=lambda row: row.first):
            job.refresh_from_db(fields=["cancel_requested"])
            if job.cancel_requested:
                raise Canceled
            self._carry_out(job, first, list(rows))

    def _carry_out(self, job: ImportJob, first: int, rows: list[Row]) -> None:
        """Do it, count it, and move the bookmark: all of it, or nothing."""
        with transaction.atomic():
            try:
                with transaction.atomic():
                    changed = self.carry_out(job, [row.values for row in rows])
                became = "updated" if changed else "unchanged"
            except ApiError as error:
                Reject.objects.bulk_create(_reject(job, row, error) for row in rows)
                became = "rejected"
            counts: dict[str, Any] = {became: len(rows), "rows_done": len(rows)}
            job.update_if_owner(attempts=0, bookmark=first, **counts)


def _reject(job: ImportJob, row: Row, error: ApiError) -> Reject:
    fault = error.errors[0] if error.errors else None
    return Reject(
        job=job,
        line=row.line,
        field=fault["field"] if fault else "",
        code=fault["code"] if fault else error.code,
        message=(fault["message"] if fault else error.message)[:MOST_MESSAGE],
        cells=row.cells,
    )


def _rows(context: ImportContext, together: list[Composable]) -> Iterator[Row]:
    """The rows that are left to do, those that belong together one after another."""
    names = list(context.mapped.values)
    query = _query(context, together)
    after = (context.job.bookmark, 0)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(query, [context.job.bookmark, *after, ROWS_AT_ONCE])
            page = cursor.fetchall()
        for line, first, cells, *values in page:
            yield Row(line, first, dict(zip(names, values, strict=True)), cells)
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

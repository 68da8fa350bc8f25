"""The templates that suppliers fill in: three lines, of which the second and third are to be deleted."""

from __future__ import annotations

import csv
import io
import logging
import os
from collections.abc import Sequence
from contextlib import suppress

from psycopg.sql import SQL, Literal

from accounts.models import Supplier
from imports.columns import Column
from imports.importer import Run, importer_of
from imports.models import Kind
from imports.staging import run
from sftp_ingest.areas import area_of
from sftp_ingest.paths import TEMPLATES

logger = logging.getLogger(__name__)

MANDATORY, OPTIONAL = "mandatory", "optional"


def columns_of(kind: str) -> list[Column]:
    return [column for column in importer_of(kind).template() if not column.hidden]


def template(kind: str) -> str:
    """Line 1 the columns, line 2 mandatory or optional, line 3 an example."""
    columns = columns_of(kind)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.name for column in columns])
    writer.writerow([MANDATORY if column.required else OPTIONAL for column in columns])
    writer.writerow([column.example for column in columns])
    return text.getvalue()


def drop_lines(current: Run, header: Sequence[str]) -> list[str]:
    """Take the template's lines 2 and 3 out of a staged file, if they were left in; tell which."""
    table = current.staging.table
    columns = {column.name: column for column in columns_of(current.job.kind)}
    places = [
        (index, columns[name.casefold()]) for index, name in enumerate(header) if name.casefold() in columns
    ]
    if not places:
        return []
    found = []
    for line, *cells in _first_rows(current):
        shown = [((cells[index] or "").strip(), column) for index, column in places]
        if all(text.casefold() in (MANDATORY, OPTIONAL) for text, _ in shown):
            found.append((line, "which says what is mandatory"))
        elif len(shown) > 1 and all(text == column.example for text, column in shown):
            found.append((line, "its example"))
    for line, _ in found:
        run(SQL("DELETE FROM {} WHERE line = {}").format(table, Literal(line)))
    return [f"Line {line} is the template's own, {what}; it was skipped." for line, what in found]


def _first_rows(current: Run) -> list[tuple[int, *tuple[str | None, ...]]]:
    from django.db import connection

    cells = SQL(", ").join(current.staging.columns)
    with connection.cursor() as cursor:
        # The first rows are where COPY put them: no need to sort a million.
        cursor.execute(
            SQL("SELECT line, {} FROM (SELECT * FROM {} LIMIT 100) AS s ORDER BY line LIMIT 2").format(
                cells, current.staging.table
            )
        )
        return list(cursor.fetchall())


def publish(supplier: Supplier) -> None:
    """Put the templates into a supplier's upload area."""
    folder = area_of(supplier) / TEMPLATES
    for kind in Kind.values:
        text = template(kind).encode()
        path = folder / f"{kind}.csv"
        with suppress(OSError):
            if path.read_bytes() == text:
                continue
        temporary = folder / f".{kind}.{os.getpid()}"
        try:
            temporary.write_bytes(text)
            temporary.replace(path)
        except OSError:
            logger.exception("the template %s could not be published", path)

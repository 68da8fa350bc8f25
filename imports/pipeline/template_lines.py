"""The template's own second and third line, which some leave in: taken out of a staged file."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from psycopg.sql import SQL, Literal

from imports.pipeline.context import ImportContext
from imports.pipeline.importer import Importer
from imports.sql import execute

# What line 2 of a template says of each column; line 3 is an example.
MANDATORY, OPTIONAL = "mandatory", "optional"


def drop_template_lines(context: ImportContext, importer: Importer, header: Sequence[str]) -> list[str]:
    """Take the template's lines 2 and 3 out, if they were left in; return a warning for each."""
    columns = {column.name: column for column in importer.template()}
    places = [
        (index, columns[name.casefold()]) for index, name in enumerate(header) if name.casefold() in columns
    ]
    if not places:
        return []
    found = []
    for line, *cells in _first_rows(context):
        shown = [((cells[index] or "").strip(), column) for index, column in places]
        if all(text.casefold() in (MANDATORY, OPTIONAL) for text, _ in shown):
            found.append((line, "which says what is mandatory"))
        elif len(shown) > 1 and all(text == column.example for text, column in shown):
            found.append((line, "its example"))
    for line, _ in found:
        execute(SQL("DELETE FROM {} WHERE line = {}").format(context.staging.table, Literal(line)))
    return [f"Line {line} is the template's own, {what}; it was skipped." for line, what in found]


def _first_rows(context: ImportContext) -> list[tuple[int, *tuple[str | None, ...]]]:
    cells = SQL(", ").join(context.staging.columns)
    with connection.cursor() as cursor:
        # The first rows are where COPY put them: no need to sort a million.
        cursor.execute(
            SQL("SELECT line, {} FROM (SELECT * FROM {} LIMIT 100) AS s ORDER BY line LIMIT 2").format(
                cells, context.staging.table
            )
        )
        return list(cursor.fetchall())

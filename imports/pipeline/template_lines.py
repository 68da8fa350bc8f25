"""Remove the template's own second and third line from a staged file, if the supplier left them in."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from psycopg.sql import SQL, Literal

from imports.pipeline.context import ImportContext
from imports.pipeline.importer import Importer
from imports.sql import execute

# The cells of a template's line 2; line 3 is an example.
MANDATORY, OPTIONAL = "mandatory", "optional"


def drop_template_lines(context: ImportContext, importer: Importer, header: Sequence[str]) -> list[str]:
    """Remove the template's lines 2 and 3 if they are present; return a warning for each."""
    columns = {column.name: column for column in importer.template()}
    positions = [
        (index, columns[name.casefold()]) for index, name in enumerate(header) if name.casefold() in columns
    ]
    if not positions:
        return []
    template_lines = []
    for line, *cells in _first_rows(context):
        shown = [((cells[index] or "").strip(), column) for index, column in positions]
        if all(text.casefold() in (MANDATORY, OPTIONAL) for text, _ in shown):
            template_lines.append((line, "the list of mandatory columns"))
        elif len(shown) > 1 and all(text == column.example for text, column in shown):
            template_lines.append((line, "the example"))
    for line, _ in template_lines:
        execute(SQL("DELETE FROM {} WHERE line = {}").format(context.staging.table, Literal(line)))
    return [
        f"Line {line} comes from the template ({content}) and was skipped."
        for line, content in template_lines
    ]


def _first_rows(context: ImportContext) -> list[tuple[int, *tuple[str | None, ...]]]:
    cells = SQL(", ").join(context.staging.columns)
    with connection.cursor() as cursor:
        # The first rows are at the start of the table; sorting a million rows is not needed.
        cursor.execute(
            SQL("SELECT line, {} FROM (SELECT * FROM {} LIMIT 100) AS s ORDER BY line LIMIT 2").format(
                cells, context.staging.table
            )
        )
        return list(cursor.fetchall())

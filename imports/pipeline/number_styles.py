"""Find out whether the numbers of a file have a decimal point or a decimal comma."""

from __future__ import annotations

from psycopg.sql import SQL, Composable

from imports.pipeline.columns import Style
from imports.pipeline.header_steps import F, PreparedFile
from imports.pipeline.mapping_sql import MappedFile
from imports.pipeline.number_columns import (
    NumberColumn,
    shows_decimal_commas,
    shows_decimal_dots,
)
from imports.sql import row
from imports.staging_table import StagingTable


def read_numbers(prepared: PreparedFile[F], staging: StagingTable, mapped: MappedFile) -> MappedFile:
    """Return the mapped fields of a staged file, with the number style of each numeric column."""
    styles = find_styles(staging, mapped, prepared.file.delimiter)
    return prepared.mapped(styles) if styles else mapped


def find_styles(staging: StagingTable, mapped: MappedFile, delimiter: str) -> dict[str, Style]:
    """Return the style of each numeric column of a semicolon-separated file, from its unambiguous values."""
    numeric = [name for name in mapped.bound.fields if mapped.columns[name].numeric]
    if delimiter != ";" or not numeric:
        return {}
    clues: list[Composable] = []
    for name in numeric:
        column, cell = mapped.columns[name], mapped.cell(name)
        cell = column.amount(cell) if isinstance(column, NumberColumn) else cell
        clues += [
            SQL("coalesce(bool_or({}), false)").format(shows_decimal_dots(cell)),
            SQL("coalesce(bool_or({}), false)").format(shows_decimal_commas(cell)),
        ]
    found = row(SQL("SELECT {} FROM {} AS s").format(SQL(", ").join(clues), staging.table))
    styles = {}
    for place, name in enumerate(numeric):
        dots, commas = found[2 * place], found[2 * place + 1]
        if dots and not commas:
            styles[name] = Style("decimal", "group")
        elif commas and not dots:
            styles[name] = Style("group", "decimal")
        else:
            styles[name] = Style("unknown", "unknown")
    return styles

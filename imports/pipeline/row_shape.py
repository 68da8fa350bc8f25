"""The meaning of a file's rows: the product, the pictures and the sku of each row. See docs/adr/0026.

A shop's export gives some fields of a product only once, on its first row or on its parent's row. The
export may have rows with only a picture, and variants without skus. One statement rewrites a staged file and
fills in the empty cells, before any other step. The line numbers stay unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.pipeline.columns import BLANKS
from imports.pipeline.errors import Unreadable
from imports.pipeline.header_binding import find

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class TextPattern:
    """A pattern such as `{Handle}-{Option1 Value}`: columns, and the texts between them.

    A column may be absent, and its cell may be empty.
    """

    # Each column with the text before it; None if the file has no such column.
    parts: tuple[tuple[str, int | None], ...]
    end: str

    def sql(self, cells: Callable[[int], Composable]) -> Composable:
        """Return the SQL of a row's text. The text is empty if the cell of the first column is empty.

        If another cell is empty, the text before this cell is left out.
        """
        (before, first), *others = self.parts
        if first is None:
            return SQL("''")
        rest = [
            SQL("coalesce({} || nullif({}, ''), '')").format(Literal(text), cells(index))
            for text, index in others
            if index is not None
        ]
        named = SQL("nullif({}, '')").format(cells(first))
        whole = [Literal(before), named, *rest, Literal(self.end)]
        return SQL("coalesce({}, '')").format(SQL(" || ").join(whole))


def built_field(columns: Container[str]) -> str:
    """Return the field of a built sku: `sku` in product files, `id` in stock files."""
    return "sku" if "sku" in columns else "id"


class CellsSql:
    """The SQL of a row's cells, by the index of the column. Each cell is trimmed and never NULL.

    The texts in `empty` count as empty cells.
    """

    def __init__(self, empty: Sequence[str] = ()) -> None:
        self.empty = list(empty)

    def __call__(self, index: int) -> Composable:
        return self.without_empty(trimmed(index))

    def without_empty(self, cell: Composable) -> Composable:
        if not self.empty:
            return cell
        for each in self.empty:
            cell = SQL("nullif({}, {})").format(cell, Literal(each))
        return SQL("coalesce({}, '')").format(cell)


def trimmed(index: int) -> Composable:
    """Return a cell of the staging table without blanks around it, never NULL."""
    return SQL("coalesce(btrim(s.{}, {}), '')").format(Identifier(f"c{index}"), Literal(BLANKS))


@dataclass(frozen=True)
class Chosen:
    """A column, and the texts of its cells that select a row."""

    index: int
    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class RowShape:
    """The options of `rows`, bound to a file's header. An empty shape changes no row."""

    # Each entry names one column or several. The first non-empty value identifies the row's product.
    product: tuple[TextPattern, ...] = ()
    parent: int | None = None
    repeat: tuple[int, ...] = ()
    pictures: tuple[int, ...] = ()
    variant: tuple[int, ...] = ()
    empty: tuple[str, ...] = ()
    only: Chosen | None = None
    group: Chosen | None = None
    sku: TextPattern | None = None

    @property
    def changes_rows(self) -> bool:
        return bool(self.only or (self.product and (self.repeat or self.pictures)))

    @property
    def cells(self) -> CellsSql:
        return CellsSql(self.empty)

    @property
    def used(self) -> set[int]:
        """Return the indexes of the columns that the options of rows read, even if they fill no field."""
        found = {index for each in (*self.product, self.sku) if each for _, index in each.parts}
        found |= {self.parent, *self.repeat, *self.pictures}
        found |= {each.index for each in (self.only, self.group) if each}
        return {index for index in found if index is not None}


def bind_rows(header: Sequence[str], options: Mapping[str, Any], own: int) -> RowShape:
    """Bind the options of `rows` to this header. Raises Unreadable if needed columns are absent."""

    def index_of(name: str) -> int | None:
        return find(header, name, range(own))

    def there(key: str) -> tuple[int, ...]:
        return tuple(index for name in options.get(key, ()) if (index := index_of(name)) is not None)

    def chosen(key: str) -> Chosen | None:
        given = options.get(key)
        if not given:
            return None
        # `A|B` means the first of these columns that the file has, as in a pattern.
        found = [index_of(name.strip()) for name in given["field"].split("|")]
        index = next((index for index in found if index is not None), None)
        if index is None:
            return None
        return Chosen(index, header[index].strip(), tuple(map(str.lower, given["values"])))

    named = [read_pattern(name, index_of) for name in options.get("product_fields", ())]
    product = tuple(each for each in named if each.parts[0][1] is not None)
    if options.get("product_fields") and not product:
        raise _missing("product_fields", options["product_fields"])
    sku = read_pattern(options["sku_template"], index_of) if options.get("sku_template") else None
    if sku and sku.parts[0][1] is None:
        raise _missing("sku_template", [options["sku_template"]])
    return RowShape(
        product=product,
        parent=next(iter(there("parent_fields")), None),
        repeat=there("repeat_fields"),
        pictures=there("picture_fields"),
        variant=there("variant_fields"),
        empty=tuple(options.get("blank_values", ())),
        only=chosen("only_rows"),
        group=chosen("group_rows"),
        sku=sku,
    )


def read_pattern(text: str, index_of: Callable[[str], int | None]) -> TextPattern:
    """Return the pattern of a text such as `{A|B}-{C}`. A text without braces names one column.

    `{A|B}` means the first of these columns that the header has.
    """
    if not PLACEHOLDER.search(text):
        return TextPattern((("", index_of(text)),), "")
    *pairs, end = PLACEHOLDER.split(text)
    parts = []
    for before, names in zip(pairs[::2], pairs[1::2], strict=True):
        found = [index_of(name.strip()) for name in names.split("|")]
        parts.append((before, next((index for index in found if index is not None), None)))
    return TextPattern(tuple(parts), end)


def _missing(option: str, names: Sequence[str]) -> Unreadable:
    listed = " or ".join(map(repr, names))
    return Unreadable(
        "missing_column", f"The file has no column {listed}, which {option} of the mapping names."
    )

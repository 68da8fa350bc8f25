"""What the rows of a file are: whose product, whose pictures, whose sku. See docs/adr/0026.

A shop's export says some things of a product once, on its first row or on its parent's, has rows of pictures
alone, and often no skus. Before anything else is done with a staged file, it is written once more with these
cells filled in, in one statement; its lines stay as they are.
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
class Template:
    """`{Handle}-{Option1 Value}`: texts between columns, of which any may be absent or empty."""

    # Each with the text before it; None where the file has no such column.
    parts: tuple[tuple[str, int | None], ...]
    end: str

    def sql(self, cells: Callable[[int], Composable]) -> Composable:
        """The text of a row: empty where the first cell is; an empty cell takes the text before it along."""
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
    """What a built sku fills: of a product the field of that name, of stock what says which variant."""
    return "sku" if "sku" in columns else "id"


class CellsSql:
    """Cells by the place of their column, as trimmed text that is never NULL; `empty` are no texts."""

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
    """A cell of the staging table without blanks around it, never NULL."""
    return SQL("coalesce(btrim(s.{}, {}), '')").format(Identifier(f"c{index}"), Literal(BLANKS))


@dataclass(frozen=True)
class Chosen:
    """A column, and certain cells of it."""

    index: int
    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class RowShape:
    """The options of `rows`, bound to a file's header; an empty one leaves every row as it is."""

    # Columns, or templates of them: the first that is not empty names the row's product.
    product: tuple[Template, ...] = ()
    parent: int | None = None
    repeat: tuple[int, ...] = ()
    pictures: tuple[int, ...] = ()
    variant: tuple[int, ...] = ()
    empty: tuple[str, ...] = ()
    only: Chosen | None = None
    group: Chosen | None = None
    sku: Template | None = None

    @property
    def changes_rows(self) -> bool:
        return bool(self.only or (self.product and (self.repeat or self.pictures)))

    @property
    def cells(self) -> CellsSql:
        return CellsSql(self.empty)

    @property
    def used(self) -> set[int]:
        """The columns that say something about rows, though they may fill no field."""
        found = {index for each in (*self.product, self.sku) if each for _, index in each.parts}
        found |= {self.parent, *self.repeat, *self.pictures}
        found |= {each.index for each in (self.only, self.group) if each}
        return {index for index in found if index is not None}


def bind_rows(header: Sequence[str], options: Mapping[str, Any], own: int) -> RowShape:
    """What `rows` of the options means for this header. Raises Unreadable where its columns are absent."""

    def index_of(name: str) -> int | None:
        return find(header, name, range(own))

    def there(key: str) -> tuple[int, ...]:
        return tuple(index for name in options.get(key, ()) if (index := index_of(name)) is not None)

    def chosen(key: str) -> Chosen | None:
        given = options.get(key)
        if not given:
            return None
        # `A|B` is the first that the file has, as in a template.
        found = [index_of(name.strip()) for name in given["field"].split("|")]
        index = next((index for index in found if index is not None), None)
        if index is None:
            return None
        return Chosen(index, header[index].strip(), tuple(map(str.lower, given["values"])))

    named = [read_template(name, index_of) for name in options.get("product_fields", ())]
    product = tuple(each for each in named if each.parts[0][1] is not None)
    if options.get("product_fields") and not product:
        raise _missing("product_fields", options["product_fields"])
    sku = read_template(options["sku_template"], index_of) if options.get("sku_template") else None
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


def read_template(text: str, index_of: Callable[[str], int | None]) -> Template:
    """`{A|B}-{C}` for a header that has A or B; a text without braces names one column."""
    if not PLACEHOLDER.search(text):
        return Template((("", index_of(text)),), "")
    *pairs, end = PLACEHOLDER.split(text)
    parts = []
    for before, names in zip(pairs[::2], pairs[1::2], strict=True):
        found = [index_of(name.strip()) for name in names.split("|")]
        parts.append((before, next((index for index in found if index is not None), None)))
    return Template(tuple(parts), end)


def _missing(option: str, names: Sequence[str]) -> Unreadable:
    listed = " or ".join(map(repr, names))
    return Unreadable(
        "missing_column", f"The file has no column {listed}, which {option} of the mapping names."
    )

"""Typed rows: the type checker knows each column that a query reads."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from django.db.backends.utils import CursorWrapper
from django.db.models import Expression, F, Model, QuerySet
from django.db.models.query import ValuesListIterable

from fastdb.columns import Column, Through

A = TypeVar("A")
C = TypeVar("C")
M = TypeVar("M", bound=Model)
R = TypeVar("R", bound=NamedTuple)
Read = Callable[[Any], Any]


def as_rows(queryset: QuerySet[M, Any], row: type[R]) -> QuerySet[M, R]:
    """Return a queryset that yields rows of a class whose fields are the columns to read.

    A field reads the column of its own name, unless its type names another source or another way to read it:

        class LineRow(NamedTuple):
            id: int
            notes: Json[list[NoteJson]]
            supplier_id: Annotated[int | None, F("asked_supplier_id")]
            short: Annotated[int, F("open") - F("reserved")]

        as_rows(OrderLine.objects.order_by("id"), LineRow)
    """
    columns = _columns(row)
    computed = {column.name: column.source for column in columns if column.source is not None}
    rows: QuerySet[M, R] = queryset.annotate(**computed).values_list(*(column.name for column in columns))
    rows._iterable_class = _iterable_of(row)
    return rows


def rows_of(cursor: CursorWrapper, row: type[R]) -> list[R]:
    """Return the rows of a hand-written statement whose columns are the fields of the class, in order."""
    return list(map(_maker(row), cursor.fetchall()))


def grouped(rows: Iterable[R], key: Callable[[R], int]) -> dict[int, list[R]]:
    """Group rows by an id. A missing id gives an empty list."""
    groups: dict[int, list[R]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def answering(row: type[R], answer: type[A]) -> Callable[[R], A]:
    """Return a function that turns a row into a TypedDict answer. The row must have all fields of the answer.

    Raises TypeError at import time if the row lacks a field or gives it another type.
    """
    available, wanted = get_type_hints(row), get_type_hints(answer)
    if wrong := [name for name, hint in wanted.items() if available.get(name) != hint]:
        raise TypeError(f"{row.__name__} does not match {answer.__name__}: {', '.join(wrong)}")
    fields = (f"{name!r}: row[{row._fields.index(name)}]" for name in wanted)
    return _written_out(f"{{{', '.join(fields)}}}")


def answering_with(row: type[R], computed: type[C], answer: type[A]) -> Callable[[R, C], A]:
    """Return a function that makes an answer from a row and a TypedDict of computed values.

    A computed value replaces a field of the row with the same name. Raises TypeError at import time if a
    field of the answer is missing or has another type.
    """
    first = get_type_hints(computed)
    available, wanted = get_type_hints(row) | first, get_type_hints(answer)
    if wrong := [name for name, hint in wanted.items() if available.get(name) != hint]:
        raise TypeError(f"{row.__name__} does not match {answer.__name__}: {', '.join(wrong)}")
    fields = (
        f"{name!r}: computed[{name!r}]" if name in first else f"{name!r}: row[{row._fields.index(name)}]"
        for name in wanted
    )
    return _written_out(f"{{{', '.join(fields)}}}", "row, computed")


def fields_through(row: type[NamedTuple], relation: str) -> tuple[str, ...]:
    """Return the fields of a row class that are marked with `Through(relation)`."""
    hints = get_type_hints(row, include_extras=True)
    return tuple(name for name in row._fields if Through(relation) in _annotations_of(hints[name]))


def _written_out(expression: str, arguments: str = "row", /, **names: object) -> Callable[..., Any]:
    """Compile source code with one expression per field into a function, as namedtuple and dataclasses do.

    A loop over the fields would cost 6 % of the time of a page of 100 orders.
    """
    return eval(f"lambda {arguments}: {expression}", names)  # type: ignore[no-any-return]  # noqa: S307 - our own names


class RowIterable(ValuesListIterable[R]):
    """The iterable from which Django reads the rows of a queryset. Each row class has its own subclass."""

    make: Callable[[Iterable[object]], R]

    def __iter__(self) -> Iterator[R]:
        return map(self.make, super().__iter__())


@functools.cache
def _iterable_of(row: type[R]) -> type[RowIterable[R]]:
    return type(f"{row.__name__}Iterable", (RowIterable,), {"make": staticmethod(_maker(row))})


@functools.cache
def _maker(row: type[R]) -> Callable[[Iterable[object]], R]:
    """Return the function that turns a database row into a row of the class."""
    # Like Django, avoid `_make`: it counts the columns of each row again.
    new = functools.partial(tuple.__new__, row)
    reads = {f"read{index}": column.read for index, column in enumerate(_columns(row)) if column.read}
    if not reads:
        return new
    values = (
        f"None if row[{index}] is None else read{index}(row[{index}])" if column.read else f"row[{index}]"
        for index, column in enumerate(_columns(row))
    )
    return _written_out(f"new(({', '.join(values)},))", new=new, **reads)


class _SelectedColumn(NamedTuple):
    """A selected column: its name, its expression (None for a plain column), and its conversion."""

    name: str
    source: Expression | None
    read: Read | None


@functools.cache
def _columns(row: type[NamedTuple]) -> list[_SelectedColumn]:
    hints = get_type_hints(row, include_extras=True)
    return [_selected(name, list(_annotations_of(hints[name]))) for name in row._fields]


def _selected(field: str, annotations: list[object]) -> _SelectedColumn:
    column = next((item for item in annotations if isinstance(item, Column)), Column())
    through = next((item for item in annotations if isinstance(item, Through)), None)
    own = F(f"{through.relation}__{field}" if through else field)
    source = next((item for item in annotations if isinstance(item, F | Expression)), own)
    if isinstance(source, F):
        path: str = source.name  # type: ignore[attr-defined]  # the stubs of F lack `name`
        if column.ask is None:
            return _SelectedColumn(path, None, column.read)
        source = column.ask(path)
    # The prefix avoids a clash: an annotation must not have the name of a model field.
    return _SelectedColumn(f"row_{field}", source, column.read)


def _annotations_of(hint: Any) -> Iterator[Any]:
    """Yield the metadata of an `Annotated` type, also inside a union such as `Annotated[…] | None`."""
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
        yield from _annotations_of(hint.__origin__)
    else:
        for part in get_args(hint):
            if get_origin(part) is Annotated:
                yield from _annotations_of(part)

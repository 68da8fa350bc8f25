"""Rows of a class of their own, so that the type checker knows each column that a query reads."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from django.db.backends.utils import CursorWrapper
from django.db.models import Expression, F, Model, QuerySet
from django.db.models.query import ValuesListIterable

from fastdb.columns import Column

A = TypeVar("A")
M = TypeVar("M", bound=Model)
R = TypeVar("R", bound=NamedTuple)
Read = Callable[[Any], Any]


def as_rows(queryset: QuerySet[M, Any], row: type[R]) -> QuerySet[M, R]:
    """The queryset, yielding rows of that class, whose fields are the columns that it reads.

    A field is a column of its own name, unless its type says where it comes from, or how it is read:

        class LineRow(NamedTuple):
            id: int
            notes: Json[list[NoteJson]]
            supplier_id: Annotated[int | None, F("asked_supplier_id")]
            short: Annotated[int, F("open") - F("reserved")]

        as_rows(OrderLine.objects.order_by("id"), LineRow)
    """
    columns = _columns(row)
    computed = {each.name: each.source for each in columns if each.source is not None}
    rows: QuerySet[M, R] = queryset.annotate(**computed).values_list(*(each.name for each in columns))
    rows._iterable_class = _iterable_of(row)
    return rows


def rows_of(cursor: CursorWrapper, row: type[R]) -> list[R]:
    """The rows of a statement written by hand; its columns are the fields of that class, in their order."""
    return list(map(_maker(row), cursor.fetchall()))


def grouped(rows: Iterable[R], key: Callable[[R], int]) -> dict[int, list[R]]:
    """Rows by what they belong to: an empty list where there are none."""
    groups: dict[int, list[R]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def answering(row: type[R], answer: type[A]) -> Callable[[R], A]:
    """What makes an answer, a TypedDict, of a row that has all its fields.

    Raises TypeError, when its module is imported, where the row lacks a field or has another type for it.
    """
    held, wanted = get_type_hints(row), get_type_hints(answer)
    if wrong := [name for name, hint in wanted.items() if held.get(name) != hint]:
        raise TypeError(f"{row.__name__} is not what {answer.__name__} says: {', '.join(wrong)}")
    fields = (f"{name!r}: row[{row._fields.index(name)}]" for name in wanted)
    return _written_out(f"{{{', '.join(fields)}}}")


def _written_out(expression: str, **names: Any) -> Callable[[Any], Any]:
    """A function of `row`, written out field by field, as namedtuple and dataclasses write theirs.

    Loops over the fields would cost 6 % of a page of 100 orders.
    """
    return eval(f"lambda row: {expression}", names)  # type: ignore[no-any-return]  # noqa: S307 - our own names


class RowIterable(ValuesListIterable[R]):
    """What Django asks for a queryset's rows; there is one for each class of rows."""

    make: Callable[[Iterable[Any]], R]

    def __iter__(self) -> Iterator[R]:
        return map(self.make, super().__iter__())


@functools.cache
def _iterable_of(row: type[R]) -> type[RowIterable[R]]:
    return type(f"{row.__name__}Iterable", (RowIterable,), {"make": staticmethod(_maker(row))})


@functools.cache
def _maker(row: type[R]) -> Callable[[Iterable[Any]], R]:
    """What makes a row of what the database gives."""
    # As Django does for its own: `_make` counts the columns of each row once more.
    new = functools.partial(tuple.__new__, row)
    reads = {f"read{index}": each.read for index, each in enumerate(_columns(row)) if each.read}
    if not reads:
        return new
    values = (
        f"None if row[{index}] is None else read{index}(row[{index}])" if each.read else f"row[{index}]"
        for index, each in enumerate(_columns(row))
    )
    return _written_out(f"new(({', '.join(values)},))", new=new, **reads)


class _Asked(NamedTuple):
    """What is asked for a field, what it is computed from if it is no column, and what is made of it."""

    name: str
    source: Expression | None
    read: Read | None


@functools.cache
def _columns(row: type[NamedTuple]) -> list[_Asked]:
    hints = get_type_hints(row, include_extras=True)
    return [_asked(name, list(_said_of(hints[name]))) for name in row._fields]


def _asked(field: str, said: list[Any]) -> _Asked:
    column = next((each for each in said if isinstance(each, Column)), Column())
    source = next((each for each in said if isinstance(each, F | Expression)), F(field))
    if isinstance(source, F):
        path: str = source.name  # type: ignore[attr-defined]  # its stubs do not know it
        if column.ask is None:
            return _Asked(path, None, column.read)
        source = column.ask(path)
    # Under a name of its own: an annotation may not have that of a field of the model.
    return _Asked(f"row_{field}", source, column.read)


def _said_of(hint: Any) -> Iterator[Any]:
    """What a type is annotated with, be it optional or not."""
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
        yield from _said_of(hint.__origin__)
    else:
        for part in get_args(hint):
            if get_origin(part) is Annotated:
                yield from _said_of(part)

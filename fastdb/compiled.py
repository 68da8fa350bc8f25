"""Queries whose statement is written once for each process, not once for each request.

For a small query Django takes several times longer to write the SQL than PostgreSQL to run it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import BooleanField, Expression, Func, Model, QuerySet
from django.db.models.query import ModelIterable, get_related_populators
from django.db.models.sql.compiler import SQLCompiler
from django.db.models.utils import create_namedtuple_class

from fastdb.rows import RowIterable

T = TypeVar("T")
Values = Sequence[Any]
"""One row as the database driver gives it."""


class Param(Expression):
    """Stands in a compiled queryset for a value that each call gives."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, list[Any]]:  # type: ignore[override]
        return "%s", [self]


def any_of(column: str, name: str) -> Func:
    """The condition that a column equals one of the values in a list that each call gives."""
    values = Func(Param(name), function="ANY")
    # Written with `=` by hand, because a lookup would put ANY in parentheses.
    return Func(column, values, template="%(expressions)s", arg_joiner=" = ", output_field=BooleanField())


@dataclass(frozen=True)
class Statement(Generic[T]):
    """A queryset as SQL, and what makes its rows what the queryset would yield."""

    sql: str
    params: Sequence[Any]
    converters: Mapping[int, tuple[list[Callable[..., Any]], Any]]
    make: Callable[[Values], T]

    def run(self, given: Mapping[str, Any]) -> Iterator[T]:
        with connection.cursor() as cursor:
            cursor.execute(self.sql, [given[p.name] if isinstance(p, Param) else p for p in self.params])
            rows = cursor.fetchall()
        for row in rows:
            yield self.make(self._converted(row) if self.converters else row)

    def _converted(self, row: Values) -> Values:
        values = list(row)
        for place, (converters, expression) in self.converters.items():
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        return values


class CompiledQuery(Generic[T]):
    """A queryset with `Param` values; calling it with them runs it, and gives a list.

    Of instances, or of the rows of `as_rows`, and typed as such:

        @CompiledQuery
        def lines_of() -> QuerySet[OrderLine, LineRow]:
            return as_rows(OrderLine.objects.filter(order_id=Param("order")), LineRow)

        lines = lines_of(order=12)  # list[LineRow]
    """

    def __init__(self, build: Callable[[], QuerySet[Any, T]]) -> None:
        self._build = build
        functools.update_wrapper(self, build)

    def __call__(self, **given: Any) -> list[T]:
        return list(self._statement.run(given))

    def queryset(self) -> QuerySet[Any, T]:
        """The queryset itself, for another one to be made of it."""
        return self._build()

    @functools.cached_property
    def _statement(self) -> Statement[T]:
        queryset = self._build()
        compiler = queryset.query.get_compiler(queryset.db)
        sql, params = compiler.as_sql()
        assert compiler.select is not None
        converters = compiler.get_converters(each[0] for each in compiler.select)
        return Statement(sql, params, converters, _maker(queryset, compiler))


def _maker(queryset: QuerySet[Any, T], compiler: SQLCompiler) -> Callable[[Values], Any]:
    """What makes the queryset's own rows, or its instances, of what the database gives."""
    iterable = queryset._iterable_class
    if issubclass(iterable, RowIterable):
        return iterable.make
    if issubclass(iterable, ModelIterable):
        return _instance_maker(queryset, compiler)
    return create_namedtuple_class(*queryset._fields)._make  # type: ignore[attr-defined]


def _instance_maker(queryset: QuerySet[Any, T], compiler: SQLCompiler) -> Callable[[Values], Model]:
    """What makes an instance, with its relations and annotations."""
    info, select = compiler.klass_info, compiler.select
    assert info is not None
    assert select is not None
    model: type[Model] = info["model"]
    first, last = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [each[0].target.attname for each in select[first:last]]
    annotations = compiler.annotation_col_map or {}
    populators = get_related_populators(info, select, queryset.db)  # type: ignore[call-arg]  # for Django 6

    def make(row: Values) -> Model:
        instance = model.from_db(queryset.db, names, row[first:last])
        for populator in populators:
            populator.populate(row, instance)
        for name, place in annotations.items():
            setattr(instance, name, row[place])
        return instance

    return make

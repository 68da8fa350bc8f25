"""Queries whose SQL is written once per process instead of once per request.

For a small query, Django needs several times longer to write the SQL than PostgreSQL needs to run it.
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
Values = Sequence[object]
"""One row from the database driver."""


class Param(Expression):
    """A placeholder in a compiled queryset for a value that each call passes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: object) -> tuple[str, list[object]]:  # type: ignore[override]
        return "%s", [self]


def any_of(column: str, name: str) -> Func:
    """Build the condition `column = ANY(list)`, with a list that each call passes."""
    values = Func(Param(name), function="ANY")
    # Write `=` by hand, because a lookup would put ANY in parentheses.
    return Func(column, values, template="%(expressions)s", arg_joiner=" = ", output_field=BooleanField())


@dataclass(frozen=True)
class Statement(Generic[T]):
    """A queryset as SQL, with the function that turns a row into the queryset's item."""

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
        for position, (converters, expression) in self.converters.items():
            for convert in converters:
                values[position] = convert(values[position], expression, connection)
        return values


class CompiledQuery(Generic[T]):
    """A queryset with `Param` values. A call passes the values, runs the query and returns a list.

    The items are instances, or the rows of `as_rows`. The type checker knows their type:

        @CompiledQuery
        def lines_of() -> QuerySet[OrderLine, LineRow]:
            return as_rows(OrderLine.objects.filter(order_id=Param("order")), LineRow)

        lines = lines_of(order=12)  # list[LineRow]
    """

    def __init__(self, build: Callable[[], QuerySet[Any, T]]) -> None:
        self._build = build
        functools.update_wrapper(self, build)

    def __call__(self, **given: object) -> list[T]:
        return list(self._statement.run(given))

    def queryset(self) -> QuerySet[Any, T]:
        """Return the queryset, so that a caller can derive another queryset."""
        return self._build()

    @functools.cached_property
    def _statement(self) -> Statement[T]:
        queryset = self._build()
        compiler = queryset.query.get_compiler(queryset.db)
        sql, params = compiler.as_sql()
        assert compiler.select is not None
        converters = compiler.get_converters(column[0] for column in compiler.select)
        return Statement(sql, params, converters, _maker(queryset, compiler))


def _maker(queryset: QuerySet[Any, T], compiler: SQLCompiler) -> Callable[[Values], Any]:
    """Return the function that turns a database row into the queryset's row or instance."""
    iterable = queryset._iterable_class
    if issubclass(iterable, RowIterable):
        return iterable.make
    if issubclass(iterable, ModelIterable):
        return _instance_maker(queryset, compiler)
    return create_namedtuple_class(*queryset._fields)._make  # type: ignore[attr-defined]


def _instance_maker(queryset: QuerySet[Any, T], compiler: SQLCompiler) -> Callable[[Values], Model]:
    """Return the function that builds an instance with its relations and annotations."""
    info, select = compiler.klass_info, compiler.select
    assert info is not None
    assert select is not None
    model: type[Model] = info["model"]
    first, last = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in select[first:last]]
    annotations = compiler.annotation_col_map or {}
    populators = get_related_populators(info, select, queryset.db)  # type: ignore[call-arg]  # Django 6 stubs

    def make(row: Values) -> Model:
        instance = model.from_db(queryset.db, names, row[first:last])
        for populator in populators:
            populator.populate(row, instance)
        for name, position in annotations.items():
            setattr(instance, name, row[position])
        return instance

    return make

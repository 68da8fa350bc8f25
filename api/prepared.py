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

T = TypeVar("T")
Row = Sequence[Any]


class Given(Expression):
    """Stands in a prepared queryset for a value that is told when it runs."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, list[Any]]:  # type: ignore[override]
        return "%s", [self]


def any_of(column: str, name: str) -> Func:
    """The condition that a column equals one of a list of values that is told when it runs."""
    values = Func(Given(name), function="ANY")
    # Written with `=` by hand, because a lookup would put ANY in parentheses.
    return Func(column, values, template="%(expressions)s", arg_joiner=" = ", output_field=BooleanField())


@dataclass(frozen=True)
class Statement(Generic[T]):
    """A queryset as SQL, and what makes its rows what the queryset would yield."""

    sql: str
    params: Sequence[Any]
    converters: Mapping[int, tuple[list[Callable[..., Any]], Any]]
    make: Callable[[Row], T]

    def run(self, given: Mapping[str, Any]) -> Iterator[T]:
        with connection.cursor() as cursor:
            cursor.execute(self.sql, [given[p.name] if isinstance(p, Given) else p for p in self.params])
            rows = cursor.fetchall()
        for row in rows:
            yield self.make(self._converted(row) if self.converters else row)

    def _converted(self, row: Row) -> Row:
        values = list(row)
        for place, (converters, expression) in self.converters.items():
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        return values


class Prepared(Generic[T]):
    """A queryset with `Given` values; calling it with them runs it."""

    def __init__(self, build: Callable[[], QuerySet[Any, T]]) -> None:
        self._build = build
        functools.update_wrapper(self, build)

    def __call__(self, **given: Any) -> list[T]:
        return list(self._statement.run(given))

    @functools.cached_property
    def _statement(self) -> Statement[T]:
        queryset = self._build()
        compiler = queryset.query.get_compiler(queryset.db)
        sql, params = compiler.as_sql()
        assert compiler.select is not None
        converters = compiler.get_converters(each[0] for each in compiler.select)
        return Statement(sql, params, converters, _maker(queryset, compiler))


def _maker(queryset: QuerySet[Any, Any], compiler: SQLCompiler) -> Callable[[Row], Any]:
    """What makes of a row an instance with its relations and annotations; for a `values_list` a tuple."""
    if queryset._iterable_class is not ModelIterable:
        named: Callable[[Row], Any] = create_namedtuple_class(*queryset._fields)._make  # type: ignore[attr-defined]
        return named
    info, select = compiler.klass_info, compiler.select
    assert info is not None
    assert select is not None
    model: type[Model] = info["model"]
    first, last = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [each[0].target.attname for each in select[first:last]]
    annotations = compiler.annotation_col_map or {}
    populators = get_related_populators(info, select, queryset.db)  # type: ignore[call-arg]  # for Django 6

    def make(row: Row) -> Model:
        instance = model.from_db(queryset.db, names, row[first:last])
        for populator in populators:
            populator.populate(row, instance)
        for name, place in annotations.items():
            setattr(instance, name, row[place])
        return instance

    return make

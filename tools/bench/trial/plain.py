"""Each use of `fastdb` as Django alone would do it: the same queryset, `bulk_create`, plain values."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import FunctionType, ModuleType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints
from unittest import mock

from django.db import IntegrityError, transaction
from django.db.models import Model, Q

from fastdb.columns import Column, parsed, text_of
from fastdb.compiled import CompiledQuery
from fastdb.inserts import insert, insert_unless_there
from fastdb.rows import _annotations_of


class PlainQuery:
    """Builds the queryset of a compiled query for each call, with the values where the `Param`s are."""

    def __init__(self, query: CompiledQuery[Any]) -> None:
        self._plain = _with(query, {"Param": self._value, "any_of": self._one_of})
        self._given: dict[str, Any] = {}

    def __call__(self, **given: Any) -> list[Any]:
        self._given = given
        return list(self._plain())

    def _value(self, name: str) -> Any:
        return self._given[name]

    def _one_of(self, column: str, name: str) -> Q:
        return Q((f"{column}__in", self._given[name]))


Places = list[tuple[ModuleType, str]]


def places_of(target: object) -> Places:
    """Where the project has this object: modules, and the name that it has there."""
    modules = [module for module in sys.modules.values() if isinstance(module, ModuleType)]
    ours = [each for each in modules if not each.__name__.startswith(("bench.", "fastdb."))]
    return [(module, name) for module in ours for name, value in vars(module).items() if value is target]


@contextmanager
def replaced(places: Places, plain: object) -> Iterator[None]:
    """Another object in these places."""
    with ExitStack() as patches:
        for module, name in places:
            patches.enter_context(mock.patch.object(module, name, plain))
        yield


_bulk_created: set[type[Model]] = set()


@contextmanager
def plain_insert(model: type[Model]) -> Iterator[None]:
    _bulk_created.add(model)
    yield
    _bulk_created.remove(model)


def inserts_can_be_plain() -> None:
    """From now on every module asks, at each insert, whether that model is inserted as Django does it."""

    def inserted(instances: Sequence[Model]) -> None:
        if instances and type(instances[0]) in _bulk_created:
            type(instances[0])._default_manager.bulk_create(instances)
        else:
            insert(instances)

    for module, name in places_of(insert):
        setattr(module, name, inserted)


@contextmanager
def plain_insert_unless_there(model: type[Model]) -> Iterator[None]:
    def inserted(instance: Model, *unique: str) -> bool:
        try:
            with transaction.atomic():
                instance.save(force_insert=True)
        except IntegrityError:
            return False
        return True

    with replaced(places_of(insert_unless_there), inserted):
        yield


@contextmanager
def plain_column(module: ModuleType, fast: Column, plain: Column) -> Iterator[None]:
    """Columns of one kind as Django reads them, in the rows of one module."""
    with ExitStack() as patches:
        for name, value in _with_plain_column(module, fast, plain).items():
            patches.enter_context(mock.patch.object(module, name, value))
        yield


@functools.cache
def _with_plain_column(module: ModuleType, fast: Column, plain: Column) -> dict[str, object]:
    """The module's rows with the one for the other, and its compiled queries of these rows."""
    rows = {name: _row_with(row, fast, plain) for name, row in rows_of(module).items()}
    compiled = {name: value for name, value in vars(module).items() if isinstance(value, CompiledQuery)}
    return rows | {name: CompiledQuery(_with(query, rows)) for name, query in compiled.items()}


def _row_with(row: type[NamedTuple], fast: Column, plain: Column) -> object:
    def exchanged(hint: Any) -> Any:
        if get_origin(hint) is Annotated:
            said = [plain if each == fast else each for each in hint.__metadata__]
            return Annotated[(exchanged(hint.__origin__), *said)]
        if get_origin(hint) is Union:
            return Union[tuple(map(exchanged, get_args(hint)))]  # noqa: UP007 - as many as there are
        return hint

    hints = get_type_hints(row, include_extras=True)
    return NamedTuple(row.__name__, [(name, exchanged(hints[name])) for name in row._fields])


def columns_of(module: ModuleType) -> Iterator[Column]:
    """How the module's rows read their columns."""
    for row in rows_of(module).values():
        for hint in get_type_hints(row, include_extras=True).values():
            yield from (each for each in _annotations_of(hint) if isinstance(each, Column))


def rows_of(module: ModuleType) -> dict[str, type[NamedTuple]]:
    """The classes of rows that a module defines."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and hasattr(value, "_fields") and value.__module__ == module.__name__
    }


def _with(query: CompiledQuery[Any], names: Mapping[str, object]) -> FunctionType:
    """What builds the queryset, with other objects under these names."""
    build = query._build
    assert isinstance(build, FunctionType)
    return FunctionType(build.__code__, build.__globals__ | dict(names), build.__name__)


PLAIN_COLUMNS = {
    "Json": (Column(text_of, parsed), Column()),
}
"""The kinds of columns that `fastdb` reads in its own way, and how they are read without."""

"""The uses of `fastdb` that an operation meets, by the module that has them."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

from fastdb import inserts
from fastdb.compiled import CompiledQuery
from tools.bench.trial import plain
from tools.bench.trial.operations import Answer, Operation

Way = Callable[[], AbstractContextManager[None]]
"""Puts Django's own in the place of a use, for as long as the context lasts."""


@dataclass(frozen=True)
class Use:
    """One kind of use in one module: what stands or falls together. Each part is one statement."""

    name: str
    parts: dict[str, Way]

    def plain(self) -> AbstractContextManager[None]:
        return all_plain(self.parts.values())


@contextmanager
def all_plain(ways: Iterable[Way]) -> Iterator[None]:
    with ExitStack() as stack:
        for way in ways:
            stack.enter_context(way())
        yield


def used_by(operation: Operation, answer: Answer) -> list[Use]:
    """What a request of this kind uses: columns first, so that a plain query reads plain columns, too."""
    met: dict[str, dict[str, Way]] = defaultdict(dict)

    def queried(query: CompiledQuery[Any], **given: Any) -> list[Any]:
        places = plain.places_of(query)
        use = met[f"queries of {query._build.__module__}"]
        use[query._build.__name__] = lambda: plain.replaced(places, plain.PlainQuery(query))
        return call(query, **given)

    def inserted(instances: Any, otherwise: str = "") -> Any:
        model, use = type(instances[0]), met[f"inserts of {_caller()}"]
        way = plain.plain_insert_unless_there if otherwise else plain.plain_insert
        use[model.__name__ + (" unless there" if otherwise else "")] = partial(way, model)
        return insert(instances, otherwise)

    answer(operation())  # the first of its kind may be another than those that follow
    call, insert = CompiledQuery.__call__, inserts._insert
    with (
        mock.patch.object(CompiledQuery, "__call__", queried),
        mock.patch.object(inserts, "_insert", inserted),
    ):
        answer(operation())
    columns: dict[str, dict[str, Way]] = {
        f"columns of {module.__name__}": {
            kind: partial(plain.plain_column, module, *kinds)
            for kind, kinds in plain.PLAIN_COLUMNS.items()
            if kinds[0] in plain.columns_of(module)
        }
        for module in map(sys.modules.__getitem__, _modules_of(met))
    }
    return [Use(name, parts) for name, parts in (columns | met).items() if parts]


def _caller() -> str:
    """The module that inserts: the first one on the way up that is neither fastdb's nor the bench's."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].startswith(("bench.", "fastdb.")) and frame.f_back:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


def _modules_of(uses: Iterable[str]) -> list[str]:
    return [use.rpartition(" ")[2] for use in uses]

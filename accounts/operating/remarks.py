"""A registry of texts that people wrote about records, such as comments and messages to partners.

A lower app cannot import an upper app (docs/architecture.md). Therefore each app registers its source in
`ready()`, and the timelines of all records read the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

RecordKey = tuple[str, int]
"""A record's model, such as `orders.order`, and its id."""


@dataclass(frozen=True)
class Remark:
    """A text about one record, with its author and time."""

    about: RecordKey
    at: datetime
    title: str
    by: str
    text: str
    details: tuple[tuple[str, str], ...] = ()


Source = Callable[[Collection[RecordKey]], Iterable[Remark]]
"""Return the remarks about several records, in one query."""

_sources: list[Source] = []


def register(source: Source) -> None:
    _sources.append(source)


def remarks_on(subjects: Collection[RecordKey]) -> list[Remark]:
    """Return the remarks about these records, oldest first. Takes one query for each source."""
    if not subjects:
        return []
    found = [remark for source in _sources for remark in source(subjects)]
    return sorted(found, key=lambda remark: remark.at)

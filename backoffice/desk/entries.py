"""Entries of the desk: rows that have only the columns needed for sorting.

Thousands of entries are read, but full records are read only for the rows of the shown page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, BooleanField, DateField, DateTimeField, F, Func, QuerySet, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan

from api.cursors import id_in_cursor, moment_in_cursor, read_cursor, write_cursor
from backoffice.desk.items import DeskKind, Money

LAST = datetime.max.replace(tzinfo=UTC)

Position = tuple[Any, int]
"""The position of a row in the index of its kind: its deadline and its id."""


class Rank(NamedTuple):
    """The sort key of a row: deadline, largest amount in one currency, waiting time.

    `less_money` is the negative amount, so that larger amounts come first.
    """

    due_at: datetime
    less_money: Decimal
    since: datetime
    kind: int
    pk: int


@dataclass
class DeskEntry:
    """A row of one desk kind, without its record. `also` has the order's other entries."""

    kind: DeskKind
    number: int
    pk: int
    order_id: int | None
    due: Any
    since: datetime | None
    money: list[Money] = field(default_factory=list)
    also: list[DeskEntry] = field(default_factory=list)

    @property
    def due_at(self) -> datetime | None:
        """The earliest deadline of this entry and of the entries in `also`."""
        moments = (each.kind.moment(each.due) for each in (self, *self.also))
        return min((moment for moment in moments if moment), default=None)

    @property
    def deadline(self) -> datetime:
        return self.due_at or LAST

    @property
    def position(self) -> Position:
        return self.due, self.pk

    @property
    def rank(self) -> Rank:
        most = max((each.amount for each in self.money), default=Decimal())
        return Rank(self.deadline, -most, self.since or LAST, self.number, self.pk)


def first_rows(
    kind: DeskKind, number: int, rows: QuerySet[Any], after: Position | None, count: int
) -> list[DeskEntry]:
    """Return the first `count` rows of a kind after the position `after`, sorted as in the kind's index."""
    output = DateField() if kind.is_day else DateTimeField()
    never = Value(kind.never, output_field=output)
    due: Any = never
    if kind.due:
        due = F(kind.due) if kind.always_due else Coalesce(F(kind.due), never)
    rows = rows.annotate(desk_due=due)
    if after is not None:
        position = _row(F("desk_due"), F("pk"))
        known = _row(Value(after[0], output_field=output), Value(after[1]))
        rows = rows.filter(GreaterThan(position, known)) if kind.due else rows.filter(pk__gt=after[1])
    found = rows.order_by(*(["desk_due"] if kind.due else []), "pk")
    columns = ["pk", kind.order or Value(None, output_field=BigIntegerField()), "desk_due", kind.since]
    return [
        DeskEntry(kind, number, pk, order_id, due, since)
        for pk, order_id, due, since in found.values_list(*columns)[:count]
    ]


def _row(*parts: object) -> Func:
    """Build an SQL row value. PostgreSQL finds the rows after a row value by one scan of the kind's index."""
    return Func(*parts, template="ROW(%(expressions)s)", output_field=BooleanField())


def once(entries: Iterable[DeskEntry]) -> list[DeskEntry]:
    """List each order once, under the kind with the most useful action."""
    rows: dict[Any, DeskEntry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.number, entry.due, entry.pk)):
        key = entry.order_id or (entry.kind.model, entry.pk)
        first = rows.setdefault(key, entry)
        if first is not entry:
            first.also.append(entry)
    return [*rows.values()]


@dataclass(frozen=True)
class DeskCursor:
    """The start of a page of the desk.

    A window is the range of rows that are read and sorted together (see `gathering`). `behind` has, for each
    kind, the position after which the window begins. `after` is the rank of the last row that an earlier page
    of the same window showed.
    """

    behind: Mapping[str, Position] = field(default_factory=dict)
    after: Rank | None = None

    def written(self) -> str:
        """Return the cursor as a URL parameter."""
        after = self.after and [
            *(self.after.due_at.isoformat(), str(self.after.less_money), self.after.since.isoformat()),
            *(self.after.kind, self.after.pk),
        ]
        behind = {name: [due.isoformat(), pk] for name, (due, pk) in self.behind.items()}
        return write_cursor(behind, after)

    @classmethod
    def read(cls, text: str, kinds: Iterable[DeskKind]) -> DeskCursor:
        """Parse a cursor. For an invalid text, return the cursor of the first page."""
        try:
            behind, after = read_cursor(text, parts=2)
            known = {kind.name: kind for kind in kinds}
            positions = {name: _position(known[name], *position) for name, position in behind.items()}
            return cls(positions, _rank(*after) if after else None)
        except (ValueError, TypeError, KeyError, AttributeError, InvalidOperation):
            return cls()


def _position(kind: DeskKind, due: str, pk: int) -> Position:
    return date.fromisoformat(due) if kind.is_day else moment_in_cursor(due), id_in_cursor(pk)


def _rank(due_at: str, less_money: str, since: str, kind: int, pk: int) -> Rank:
    due, sorted_by = moment_in_cursor(due_at), moment_in_cursor(since)
    return Rank(due, Decimal(less_money), sorted_by, id_in_cursor(kind), id_in_cursor(pk))

"""What waits, as far as its rank in the list needs to be known: read by the thousand, shown by the page."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, BooleanField, DateField, DateTimeField, F, Func, QuerySet, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan

from backoffice.desk.items import Kind

LAST = datetime.max.replace(tzinfo=UTC)

Position = tuple[Any, int]
"""Behind which row of a kind to go on: its deadline, as the kind's index has it, and its number."""


class Rank(NamedTuple):
    """Where a row stands: by deadline, then the money at stake, then how long it has waited."""

    due_at: datetime
    less_money: Decimal
    since: datetime
    kind: int
    pk: int


@dataclass
class Waiting:
    """A row of a kind. `also` are the kinds of the others of the same order."""

    kind: Kind
    number: int
    pk: int
    order_id: int | None
    due: Any
    since: datetime | None
    money: Decimal | None = None
    also: list[Waiting] = field(default_factory=list)

    @property
    def due_at(self) -> datetime | None:
        """The earliest deadline of the order."""
        moments = (each.kind.moment(each.due) for each in (self, *self.also))
        return min((moment for moment in moments if moment), default=None)

    @property
    def deadline(self) -> datetime:
        """What has none comes last."""
        return self.due_at or LAST

    @property
    def position(self) -> Position:
        return self.due, self.pk

    @property
    def rank(self) -> Rank:
        return Rank(self.deadline, -(self.money or Decimal()), self.since or LAST, self.number, self.pk)


def first_rows(
    kind: Kind, number: int, rows: QuerySet[Any], after: Position | None, count: int
) -> list[Waiting]:
    """So many rows of a kind behind this position, in the order of its index."""
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
        Waiting(kind, number, pk, order_id, due, since)
        for pk, order_id, due, since in found.values_list(*columns)[:count]
    ]


def _row(*parts: Any) -> Func:
    """Compared as a whole, so that the index finds where to begin."""
    return Func(*parts, template="ROW(%(expressions)s)", output_field=BooleanField())


def once(found: Iterable[Waiting]) -> list[Waiting]:
    """The same order once, under its first kind: that which one can do most about."""
    rows: dict[Any, Waiting] = {}
    for each in sorted(found, key=lambda each: (each.number, each.due, each.pk)):
        key = each.order_id or (each.kind.model, each.pk)
        first = rows.setdefault(key, each)
        if first is not each:
            first.also.append(each)
    return [*rows.values()]


@dataclass(frozen=True)
class Page:
    """Where a page of the desk begins: behind these rows of each kind, and this rank among the rest."""

    behind: Mapping[str, Position] = field(default_factory=dict)
    after: Rank | None = None

    def written(self) -> str:
        """As an address has it."""
        after = self.after and [
            *(self.after.due_at.isoformat(), str(self.after.less_money), self.after.since.isoformat()),
            *(self.after.kind, self.after.pk),
        ]
        behind = {name: [due.isoformat(), pk] for name, (due, pk) in self.behind.items()}
        text = json.dumps([behind, after], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: str, kinds: Iterable[Kind]) -> Page:
        """What `written` wrote; what it did not write is the first page."""
        try:
            raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            behind, after = json.loads(raw)
            known = {kind.name: kind for kind in kinds}
            positions = {name: (_due(known[name], due), int(pk)) for name, (due, pk) in behind.items()}
            return cls(positions, _rank(*after) if after else None)
        except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, InvalidOperation):
            return cls()


def _due(kind: Kind, text: str) -> date | datetime:
    return date.fromisoformat(text) if kind.is_day else _moment(text)


def _rank(due_at: str, less_money: str, since: str, kind: int, pk: int) -> Rank:
    return Rank(_moment(due_at), Decimal(less_money), _moment(since), int(kind), int(pk))


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment

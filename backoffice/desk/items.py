"""A row of the desk, and a kind of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Model, QuerySet
from django.urls import reverse

from accounts.models import OperatorNote


@dataclass
class Item:
    """Something that waits for a person. `also` are the other reasons for which the same order waits."""

    record: Model
    kind: Kind
    title: str
    what: str
    since: datetime | None
    due_at: datetime | None = None
    parties: str = ""
    order_id: int | None = None
    money: Decimal | None = None
    also: list[str] = field(default_factory=list)
    note: OperatorNote | None = None

    @property
    def model(self) -> str:
        return self.record._meta.label_lower

    @property
    def url(self) -> str:
        return reverse(f"admin:{self.model.replace('.', '_')}_change", args=[self.record.pk])

    @property
    def actions(self) -> list[tuple[str, str]]:
        """What can be done about it, each with the page that asks."""
        name = f"admin:{self.model.replace('.', '_')}_do"
        pk = self.record.pk
        return [(label, reverse(name, args=[pk, action])) for action, label in self.kind.actions]

    @property
    def place(self) -> tuple[bool, datetime, Decimal, datetime]:
        """Where it stands: what has a deadline first, the sooner the further up; then the money at stake."""
        late = datetime.max.replace(tzinfo=UTC)
        return self.due_at is None, self.due_at or late, -(self.money or Decimal()), self.since or late


@dataclass(frozen=True)
class Kind:
    """One kind of waiting: its rows by an index of their own, whose supplier, and what can be done."""

    name: str
    title: str
    model: type[Model]
    rows: Callable[[], QuerySet[Any]]
    read: Callable[[Any], dict[str, Any]]
    supplier: str
    since: str
    order: Sequence[str] = ("id",)
    actions: Sequence[tuple[str, str]] = ()

    def item(self, record: Any) -> Item:
        return Item(record=record, kind=self, **self.read(record))


def end_of(day: date | None) -> datetime | None:
    """The end of an order's `ship_until`, UTC."""
    if day is None or day == date.max:
        return None
    return datetime.combine(day + timedelta(days=1), time(), UTC)

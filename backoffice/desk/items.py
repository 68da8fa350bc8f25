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


@dataclass(frozen=True)
class Kind:
    """One kind of waiting: its rows by an index of their own, whose supplier, and what can be done.

    `due` is the field that has their deadline, a moment or a day; `order` leads to the order's number.
    """

    name: str
    title: str
    model: type[Model]
    rows: Callable[[], QuerySet[Any]]
    read: Callable[[Any], dict[str, Any]]
    since: str
    supplier: str = ""
    """The field that leads to its supplier; an order has those of its fulfillments."""
    due: str = ""
    is_day: bool = False
    always_due: bool = False
    """Whether none of its rows lacks a deadline: then the field's own index serves."""
    order: str = ""
    actions: Sequence[tuple[str, str]] = ()

    @property
    def never(self) -> date | datetime:
        """What stands for no deadline, so that such rows come last; their index says the same."""
        return date.max if self.is_day else datetime.max.replace(tzinfo=UTC, microsecond=0)

    def moment(self, due: date | datetime) -> datetime | None:
        """When it is due; a day has until its end (UTC)."""
        if due == self.never:
            return None
        return due if isinstance(due, datetime) else datetime.combine(due + timedelta(days=1), time(), UTC)

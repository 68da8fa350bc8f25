"""The desk by party and kind: counts, earliest deadlines and amounts, in two queries per kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, Min
from django.urls import reverse

from accounts.models import Retailer, Supplier
from accounts.operating.operator_actions import AdminAction
from backoffice.desk.entries import LAST
from backoffice.desk.gathering import DeskFilter, narrowed
from backoffice.desk.items import DeskKind, RowAction
from orders.open_amounts import Amounts, open_amounts_by_group

SORTS = {"due": "Due", "rows": "Rows", "amount": "Amount"}


@dataclass
class DeskGroup:
    """The rows of one kind that concern one party and match the filters of the page."""

    kind: DeskKind
    party: Supplier | Retailer | None
    wanted: DeskFilter
    count: int
    due_at: datetime | None = None
    money: Amounts = field(default_factory=list)
    actions: list[AdminAction[Any]] = field(default_factory=list)
    """The actions that the operator may do to all rows at once."""
    may_write: bool = False
    """Whether the operator may write to the party. The form of a message needs the right to change it."""

    @property
    def name(self) -> str:
        return str(self.party) if self.party else "All parties"

    @property
    def query(self) -> str:
        """Return the URL parameters that filter the desk to the rows of the group."""
        own: dict[str, Any] = {self.party.role.value: self.party.pk} if self.party else {}
        return replace(self.wanted, kind=self.kind.name, **own).query

    @property
    def message_action(self) -> RowAction | None:
        """Return the link to the form of a message that tells the party about all rows of the group."""
        if not self.party or not self.may_write:
            return None
        problem = f"{self.count} × {self.kind.title.lower()}"
        role = self.party.role.value
        url = reverse("admin:messages", args=["accounts", role, self.party.pk])
        return RowAction("Write message", f"{url}?{urlencode({'problem': problem})}")


def groups(kinds: Sequence[DeskKind], wanted: DeskFilter, sort: str = "due") -> list[DeskGroup]:
    """Return the groups of these kinds, sorted by deadline, or by count or amount (the largest first)."""
    found = [
        group
        for kind in kinds
        if not wanted.kind or wanted.kind == kind.name
        for group in _groups(kind, wanted)
    ]
    by_due = sorted(found, key=lambda group: (group.due_at or LAST, -group.count))
    if sort == "rows":
        return sorted(by_due, key=lambda group: -group.count)
    if sort == "amount":
        return sorted(by_due, key=lambda group: -max((amount for amount, _ in group.money), default=0))
    return by_due


def _groups(kind: DeskKind, wanted: DeskFilter) -> list[DeskGroup]:
    rows: Any = kind.model._default_manager.filter(pk__in=narrowed(kind, wanted).order_by().values("pk"))
    if not kind.party:
        count = rows.count()
        return [DeskGroup(kind, None, wanted, count)] if count else []
    due = {"desk_due": Min(kind.due)} if kind.due else {}
    by_party = rows.order_by().values(desk_party=F(kind.party)).annotate(desk_rows=Count("pk"), **due)
    found = {row["desk_party"]: row for row in by_party}
    if not found:
        return []
    model = Retailer if kind.party == "retailer" else Supplier
    parties: dict[int, Any] = model._default_manager.in_bulk(found)
    money = open_amounts_by_group(rows.order_by().values_list(kind.order, kind.party)) if kind.order else {}
    return [
        DeskGroup(
            kind, parties.get(number), wanted, row["desk_rows"], _moment(kind, row), money.get(number, [])
        )
        for number, row in found.items()
    ]


def _moment(kind: DeskKind, row: dict[str, Any]) -> datetime | None:
    due = row.get("desk_due")
    return kind.moment(due) if due else None

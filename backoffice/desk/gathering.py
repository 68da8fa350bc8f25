"""The rows of all kinds in one list: the same order once, by deadline and money."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import OperatorNote
from backoffice.desk.items import Item, Kind
from backoffice.desk.kinds import KINDS

COUNTED = 100
"""How many rows of each kind are looked at: whoever has more to do narrows the desk first."""

# What is open of an order, at what was agreed for it, else as it was billed.
MONEY = """
    SELECT l.order_id, sum((l.open + l.waiting + l.rejected) * coalesce(
        (SELECT max(p.wholesale_price) FROM fulfillments_fulfillmentline p WHERE p.order_line_id = l.id),
        l.billed_amount, 0))
    FROM orders_orderline l WHERE l.order_id = ANY(%s) GROUP BY l.order_id
"""


@dataclass(frozen=True)
class Wanted:
    """What the desk is narrowed to; empty is everything but what is put off."""

    kind: str = ""
    supplier: int | None = None
    hours: int | None = None
    taken: str = ""
    """`mine`, `free`, or `snoozed`."""
    person: str = ""


@dataclass(frozen=True)
class Gathered:
    """The rows in their order, and how many of each kind there are, up to COUNTED."""

    items: list[Item]
    counts: list[tuple[Kind, int]]

    @property
    def total(self) -> str:
        more = any(count > COUNTED for _, count in self.counts)
        return f"{len(self.items)}{'+' if more else ''}"


def gather(user: User | AnonymousUser, wanted: Wanted) -> Gathered:
    """One query for each kind that this user may see, one for notes, one for money."""
    found: list[Item] = []
    counts = []
    for kind in KINDS:
        if not _may_see(user, kind.model):
            continue
        if wanted.kind and wanted.kind != kind.name:
            counts.append((kind, -1))  # not looked at
            continue
        first = [*_narrowed(kind, kind.rows(), wanted)[: COUNTED + 1]]
        counts.append((kind, len(first)))
        found += [kind.item(record) for record in first[:COUNTED]]
    items = _once(found)
    _add_money(items)
    _add_notes(items)
    items.sort(key=lambda item: item.place)
    return Gathered(items, counts)


def _may_see(user: User | AnonymousUser, model: Any) -> bool:
    return user.has_perm(f"{model._meta.app_label}.view_{model._meta.model_name}")


def _narrowed(kind: Kind, rows: QuerySet[Any], wanted: Wanted) -> QuerySet[Any]:
    if wanted.supplier:
        rows = rows.filter(**{kind.supplier: wanted.supplier})
        if "__" in kind.supplier:  # by way of many rows
            rows = kind.rows().filter(pk__in=rows.order_by().values("pk"))
    if wanted.hours:
        rows = rows.filter(**{f"{kind.since}__lte": timezone.now() - timedelta(hours=wanted.hours)})
    notes = OperatorNote.objects.filter(model=rows.model._meta.label_lower)
    snoozed = notes.filter(snoozed_until__gt=timezone.now()).values("record_id")
    rows = rows.filter(pk__in=snoozed) if wanted.taken == "snoozed" else rows.exclude(pk__in=snoozed)
    if wanted.taken == "mine":
        rows = rows.filter(pk__in=notes.filter(assigned_to=wanted.person).values("record_id"))
    elif wanted.taken == "free":
        rows = rows.exclude(pk__in=notes.exclude(assigned_to="").values("record_id"))
    return rows.order_by(*kind.order)


def _once(found: Iterable[Item]) -> list[Item]:
    """The same order once, under its first kind; its deadline is the earliest."""
    items: dict[Any, Item] = {}
    for item in found:
        key = item.order_id or (item.model, item.record.pk)
        first = items.setdefault(key, item)
        if first is item:
            continue
        if item.kind.title not in (first.kind.title, *first.also):
            first.also.append(item.kind.title)
        first.due_at = min((at for at in (first.due_at, item.due_at) if at), default=None)
    return [*items.values()]


def _add_money(items: list[Item]) -> None:
    order_ids = [item.order_id for item in items if item.order_id]
    if not order_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(MONEY, [order_ids])
        money: dict[int, Decimal] = dict(cursor.fetchall())
    for item in items:
        item.money = money.get(item.order_id or 0)


def _add_notes(items: list[Item]) -> None:
    if not items:
        return
    notes = OperatorNote.objects.filter(record_id__in=[item.record.pk for item in items])
    by_record = {(note.model, note.record_id): note for note in notes}
    for item in items:
        item.note = by_record.get((item.model, item.record.pk))

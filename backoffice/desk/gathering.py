"""The rows of all kinds in one list: the same order once, by deadline and money, page by page.

Of each kind so many rows are looked at as a WINDOW has, in the order of an index: number, order, deadline.
What lies before the last deadline of every kind that has more is known whole; it is sorted, and shown.
Behind that the next window begins. So a page costs the same wherever it is, however much waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import OperatorNote
from backoffice.desk.items import Item, Kind
from backoffice.desk.kinds import KINDS
from backoffice.desk.waiting import LAST, Page, Position, Rank, Waiting, first_rows, once
from fulfillments.models import Fulfillment
from orders.models import Order

WINDOW = 500
"""How many rows of each kind are put into their order at once."""

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
    """A page's rows in their order; of each kind how many there are, up to WINDOW, on the first page."""

    items: list[Item]
    counts: list[tuple[Kind, int]]
    waiting: int
    more: str = ""
    """Where the next page begins, where there is one."""
    is_whole: bool = True

    @property
    def total(self) -> str:
        return f"{self.waiting}{'' if self.is_whole else '+'}"


@dataclass
class _Window:
    """What was read of each kind: its rows from a position on, and whether there are more."""

    rows: dict[str, list[Waiting]] = field(default_factory=dict)
    open_kinds: set[str] = field(default_factory=set)

    @property
    def horizon(self) -> Any:
        """The deadline up to which all is known; None where all is."""
        ends = [self.rows[name][-1] for name in self.open_kinds]
        return min((each.kind.moment(each.due) or LAST for each in ends), default=None)

    def known(self) -> list[Waiting]:
        horizon = self.horizon
        found = [each for rows in self.rows.values() for each in rows]
        if horizon is None:
            return found
        return [each for each in found if (each.kind.moment(each.due) or LAST) <= horizon]

    def behind(self, page: Page) -> dict[str, Position]:
        """Where the next window begins."""
        positions = dict(page.behind)
        for each in self.known():
            positions[each.kind.name] = max(positions.get(each.kind.name, each.position), each.position)
        return positions


def gather(user: User | AnonymousUser, wanted: Wanted, count: int = 50, start: str = "") -> Gathered:
    """A page: a short query for each kind that this user may see, for each that it shows, and two more."""
    page = Page.read(start, KINDS)
    shown = [(number, kind) for number, kind in enumerate(KINDS) if _may_see(user, kind.model)]
    window, counts = _Window(), []
    for number, kind in shown:
        if wanted.kind and wanted.kind != kind.name:
            counts.append((kind, -1))  # not looked at
            continue
        behind = page.behind.get(kind.name)
        found = first_rows(kind, number, _narrowed(kind, wanted), behind, WINDOW + 1)
        counts.append((kind, -1 if page.behind else len(found)))
        window.rows[kind.name] = found[:WINDOW]
        if len(found) > WINDOW:
            window.open_kinds.add(kind.name)
    rows = once(window.known())
    left = _first(rows, page.after, count + 1)
    of_page, more = left[:count], ""
    if len(left) > count:
        more = Page(page.behind, of_page[-1].rank).written()
    elif window.open_kinds:
        more = Page(window.behind(page)).written()
    if page.behind or window.open_kinds:
        of_page = _beyond_the_window(of_page, [kind for _, kind in shown], wanted, page)
    items = _items(of_page)
    _add_notes(items)
    whole = not (window.open_kinds or page.behind)
    return Gathered(items, counts, len(rows), more, whole)


def _may_see(user: User | AnonymousUser, model: Any) -> bool:
    return user.has_perm(f"{model._meta.app_label}.view_{model._meta.model_name}")


def _narrowed(kind: Kind, wanted: Wanted) -> QuerySet[Any]:
    rows = kind.rows()
    if wanted.supplier:
        if kind.model is Order:  # by way of many rows
            work = Fulfillment.objects.filter(order=OuterRef("pk"), supplier=wanted.supplier)
            rows = rows.filter(Exists(work.order_by()))
        else:
            rows = rows.filter(**{kind.supplier: wanted.supplier})
    if wanted.hours:
        rows = rows.filter(**{f"{kind.since}__lte": timezone.now() - timedelta(hours=wanted.hours)})
    notes = OperatorNote.objects.filter(model=rows.model._meta.label_lower)
    snoozed = notes.filter(snoozed_until__gt=timezone.now()).values("record_id")
    rows = rows.filter(pk__in=snoozed) if wanted.taken == "snoozed" else rows.exclude(pk__in=snoozed)
    if wanted.taken == "mine":
        rows = rows.filter(pk__in=notes.filter(assigned_to=wanted.person).values("record_id"))
    elif wanted.taken == "free":
        rows = rows.exclude(pk__in=notes.exclude(assigned_to="").values("record_id"))
    return rows


def _first(rows: Sequence[Waiting], after: Rank | None, count: int) -> list[Waiting]:
    """The first so many behind a rank. Money orders what is due at once, so no others are asked for it."""
    rest = sorted(rows, key=lambda each: each.deadline)
    seen = 0  # at most so many of the deadline at which the page before has ended
    if after is not None:
        rest = [each for each in rest if each.deadline >= after.due_at]
        seen = sum(each.deadline == after.due_at for each in rest)
    if len(rest) > seen + count:
        last = rest[seen + count - 1].deadline
        rest = [each for each in rest if each.deadline <= last]
    _add_money(rest)
    return sorted((each for each in rest if after is None or each.rank > after), key=lambda each: each.rank)[
        :count
    ]


def _beyond_the_window(
    rows: list[Waiting], kinds: Sequence[Kind], wanted: Wanted, page: Page
) -> list[Waiting]:
    """Without the orders that an earlier window has shown for another reason; with all their reasons."""
    orders = [each.order_id for each in rows if each.order_id]
    others: dict[int, list[Waiting]] = {}
    for number, kind in enumerate(KINDS):
        if kind not in kinds or not kind.order or (wanted.kind and wanted.kind != kind.name):
            continue
        same = _narrowed(kind, wanted).filter(**{f"{kind.order}__in": orders})
        for each in first_rows(kind, number, same, None, len(orders) * 20):
            others.setdefault(each.order_id or 0, []).append(each)
    kept = []
    for row in rows:
        found = others.get(row.order_id or 0)
        if not found:
            kept.append(row)
            continue
        if any(_was_shown(each, page) for each in found):
            continue
        [whole] = once(found)
        whole.money = row.money
        kept.append(whole)
    return kept


def _was_shown(row: Waiting, page: Page) -> bool:
    behind = page.behind.get(row.kind.name)
    return behind is not None and row.position <= behind


def _add_money(rows: Sequence[Waiting]) -> None:
    order_ids = [row.order_id for row in rows if row.order_id]
    if not order_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(MONEY, [order_ids])
        money: dict[int, Decimal] = dict(cursor.fetchall())
    for row in rows:
        row.money = money.get(row.order_id or 0)


def _items(rows: Sequence[Waiting]) -> list[Item]:
    """The rows with all that is shown of them: a query for each kind. What is solved meanwhile is gone."""
    found: dict[tuple[str, int], Any] = {}
    for kind in {row.kind.name: row.kind for row in rows}.values():
        numbers = [row.pk for row in rows if row.kind is kind]
        found |= {(kind.name, record.pk): record for record in kind.rows().filter(pk__in=numbers)}
    items = []
    for row in rows:
        record = found.get((row.kind.name, row.pk))
        if record is None:
            continue
        also = dict.fromkeys(each.kind.title for each in row.also if each.kind is not row.kind)
        items.append(
            Item(
                record=record,
                kind=row.kind,
                since=row.since,
                due_at=row.due_at,
                order_id=row.order_id,
                money=row.money,
                also=[*also],
                **row.kind.read(record),
            )
        )
    return items


def _add_notes(items: list[Item]) -> None:
    if not items:
        return
    notes = OperatorNote.objects.filter(record_id__in=[item.record.pk for item in items])
    by_record = {(note.model, note.record_id): note for note in notes}
    for item in items:
        item.note = by_record.get((item.model, item.record.pk))

"""One page of the desk: the rows of all kinds, each order once, by deadline and money.

Each kind is read in windows of WINDOW rows, in the order of an index. A kind with more rows can add rows only
after the last deadline of its window. So the rows up to the earliest of these deadlines are complete. They
are sorted and shown, and the next window begins after them. A page therefore costs the same at any depth.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import OperatorNote
from backoffice.desk.entries import LAST, DeskCursor, DeskEntry, Position, Rank, first_rows, once
from backoffice.desk.items import DeskItem, DeskKind, Money
from backoffice.desk.kinds import KINDS
from backoffice.desk.notes import comments_on
from fulfillments.models import Fulfillment
from orders.backorders.expected_days import expected_by_order
from orders.models import Order
from orders.open_amounts import open_amounts

WINDOW = 500
"""Number of rows of each kind that are sorted together."""
COUNTED = 100_000
"""The largest exact count of a kind."""


Counts = list[tuple[DeskKind, int]]


@dataclass(frozen=True)
class DeskFilter:
    """The filters of the desk. An empty filter shows all rows except snoozed ones."""

    kind: str = ""
    supplier: int | None = None
    retailer: int | None = None
    hours: int | None = None
    taken: str = ""
    """`mine`, `free`, or `snoozed`."""
    person: str = ""


@dataclass(frozen=True)
class DeskPage:
    """A page's rows in order, and the count of each kind: up to COUNTED + 1, or -1 if not counted."""

    items: list[DeskItem]
    counts: list[tuple[DeskKind, int]]
    waiting: int
    more: str = ""
    """The cursor of the next page, empty on the last page."""
    is_whole: bool = True

    @property
    def total(self) -> str:
        return f"{self.waiting}{'' if self.is_whole else '+'}"


@dataclass
class _Window:
    """The rows read of each kind, and the kinds with more rows."""

    rows: dict[str, list[DeskEntry]] = field(default_factory=dict)
    open_kinds: set[str] = field(default_factory=set)

    @property
    def horizon(self) -> Any:
        """The deadline up to which the window is complete; None if no kind has more rows."""
        ends = [self.rows[name][-1] for name in self.open_kinds]
        return min((entry.kind.moment(entry.due) or LAST for entry in ends), default=None)

    def known(self) -> list[DeskEntry]:
        horizon = self.horizon
        entries = [entry for rows in self.rows.values() for entry in rows]
        if horizon is None:
            return entries
        return [entry for entry in entries if (entry.kind.moment(entry.due) or LAST) <= horizon]

    def behind(self, cursor: DeskCursor) -> dict[str, Position]:
        """Return the positions after which the next window begins."""
        positions = dict(cursor.behind)
        for entry in self.known():
            name = entry.kind.name
            positions[name] = max(positions.get(name, entry.position), entry.position)
        return positions


def gather(
    kinds: Sequence[DeskKind], wanted: DeskFilter, count: int = 50, start: str = "", *, exact: bool = False
) -> DeskPage:
    """Return a page of these kinds. Takes two queries, one per kind, and one more per kind on the page.

    `exact` counts the kinds with more rows than a window, too, by one more query each, and the total.
    """
    cursor = DeskCursor.read(start, KINDS)
    window = _Window()
    counts: Counts = []
    for kind in kinds:
        if wanted.kind and wanted.kind != kind.name:
            counts.append((kind, -1))
            continue
        behind = cursor.behind.get(kind.name)
        entries = first_rows(kind, KINDS.index(kind), narrowed(kind, wanted), behind, WINDOW + 1)
        counts.append((kind, -1 if cursor.behind else len(entries)))
        window.rows[kind.name] = entries[:WINDOW]
        if len(entries) > WINDOW:
            window.open_kinds.add(kind.name)
    rows = once(window.known())
    left = _first(rows, cursor.after, count + 1)
    of_page, more = left[:count], ""
    if len(left) > count:
        more = DeskCursor(cursor.behind, of_page[-1].rank).written()
    elif window.open_kinds:
        more = DeskCursor(window.behind(cursor)).written()
    waiting, whole = len(rows), not (window.open_kinds or cursor.behind)
    if exact and window.open_kinds and not cursor.behind:
        counts = _exact(wanted, counts, window.open_kinds)
        waiting, whole = _waiting(wanted, counts)
    if cursor.behind or window.open_kinds:
        of_page = _beyond_the_window(of_page, kinds, wanted, cursor)
    items = _items(of_page)
    _add_notes(items)
    _add_expected(items)
    return DeskPage(items, counts, waiting, more, whole)


def _exact(wanted: DeskFilter, counts: Counts, names: Collection[str]) -> Counts:
    """Count the kinds with more rows than a window: one query each."""
    return [
        (kind, narrowed(kind, wanted).order_by()[: COUNTED + 1].count() if kind.name in names else count)
        for kind, count in counts
    ]


def _waiting(wanted: DeskFilter, counts: Counts) -> tuple[int, bool]:
    """Count all rows, each order once, and return whether the count is exact."""
    shown = [kind for kind, count in counts if count > 0]
    orders = [narrowed(kind, wanted).order_by().values_list(kind.order) for kind in shown if kind.order]
    others = sum(count for kind, count in counts if count > 0 and not kind.order)
    union = orders[0].union(*orders[1:]) if len(orders) > 1 else orders[0].distinct() if orders else []
    unique = union[: COUNTED + 1].count() if isinstance(union, QuerySet) else 0
    is_exact = unique <= COUNTED and all(count <= COUNTED for _, count in counts)
    return min(unique, COUNTED) + others, is_exact


def narrowed(kind: DeskKind, wanted: DeskFilter) -> QuerySet[Any]:
    """Return the rows of a kind that match the filters."""
    rows = kind.rows()
    if wanted.retailer:
        of_retailer = (
            {"retailer": wanted.retailer} if kind.model is Order else {"order__retailer": wanted.retailer}
        )
        rows = rows.filter(**of_retailer) if kind.order else rows.none()
    if wanted.supplier:
        if kind.model is Order:  # EXISTS instead of a join: an order has many fulfillments
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


def _first(rows: Sequence[DeskEntry], after: Rank | None, count: int) -> list[DeskEntry]:
    """Return the first `count` rows after a rank.

    Money only ranks rows with equal deadlines, so it is read only for rows that can reach the page.
    """
    rest = sorted(rows, key=lambda row: row.deadline)
    seen = 0  # rows with the last deadline of the previous page, some of which were shown there
    if after is not None:
        rest = [row for row in rest if row.deadline >= after.due_at]
        seen = sum(row.deadline == after.due_at for row in rest)
    if len(rest) > seen + count:
        last = rest[seen + count - 1].deadline
        rest = [row for row in rest if row.deadline <= last]
    _add_money(rest)
    return sorted((row for row in rest if after is None or row.rank > after), key=lambda row: row.rank)[
        :count
    ]


def _beyond_the_window(
    rows: list[DeskEntry], kinds: Sequence[DeskKind], wanted: DeskFilter, cursor: DeskCursor
) -> list[DeskEntry]:
    """Drop orders that an earlier window showed under another kind. Show all kinds of each other order."""
    orders = [row.order_id for row in rows if row.order_id]
    by_order: dict[int, list[DeskEntry]] = {}
    for kind in kinds:
        if not kind.order or (wanted.kind and wanted.kind != kind.name):
            continue
        same = narrowed(kind, wanted).filter(**{f"{kind.order}__in": orders})
        for entry in first_rows(kind, KINDS.index(kind), same, None, len(orders) * 20):
            by_order.setdefault(entry.order_id or 0, []).append(entry)
    remaining = []
    for row in rows:
        entries = by_order.get(row.order_id or 0)
        if not entries:
            remaining.append(row)
            continue
        if any(_was_shown(entry, cursor) for entry in entries):
            continue
        [whole] = once(entries)
        whole.money = row.money
        remaining.append(whole)
    return remaining


def _was_shown(row: DeskEntry, cursor: DeskCursor) -> bool:
    behind = cursor.behind.get(row.kind.name)
    return behind is not None and row.position <= behind


def _add_money(rows: Sequence[DeskEntry]) -> None:
    order_ids = [row.order_id for row in rows if row.order_id]
    if not order_ids:
        return
    money = open_amounts(order_ids)
    for row in rows:
        row.money = [Money(*amount) for amount in money[row.order_id or 0]]


def _items(rows: Sequence[DeskEntry]) -> list[DeskItem]:
    """Read the records of the rows, one query per kind. Rows solved meanwhile are left out."""
    by_key: dict[tuple[str, int], Any] = {}
    for kind in {row.kind.name: row.kind for row in rows}.values():
        numbers = [row.pk for row in rows if row.kind is kind]
        by_key |= {(kind.name, record.pk): record for record in kind.rows().filter(pk__in=numbers)}
    items = []
    for row in rows:
        record = by_key.get((row.kind.name, row.pk))
        if record is None:
            continue
        also = dict.fromkeys(other.kind.title for other in row.also if other.kind is not row.kind)
        items.append(
            DeskItem(
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


def _add_expected(items: list[DeskItem]) -> None:
    waiting = [item.order_id for item in items if item.order_id and item.kind.model is Order]
    expected = expected_by_order(waiting) if waiting else {}
    for item in items:
        item.expected_at = expected.get(item.order_id or 0)


def _add_notes(items: list[DeskItem]) -> None:
    if not items:
        return
    notes = OperatorNote.objects.filter(record_id__in=[item.record.pk for item in items])
    by_record = {(note.model, note.record_id): note for note in notes}
    for item in items:
        item.note = by_record.get((item.model, item.record.pk))
    comments = comments_on([(item.model, item.record.pk) for item in items])
    for item in items:
        item.comments = comments.get((item.model, item.record.pk), [])

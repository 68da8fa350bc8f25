"""One page of the desk: the rows of all kinds, each order once, by deadline and amount.

For each kind, one window of WINDOW rows is read, sorted by deadline. If a kind has more rows, its rows are
known only up to the last deadline in its window. The earliest of these last deadlines is the horizon: up to
the horizon, the rows of all kinds are known. These rows are sorted and shown, and the next window begins
after these rows. The last page is therefore as fast as the first page.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import OperatorNote
from backoffice.desk.entries import LAST, DeskCursor, DeskEntry, Position, Rank, first_rows, once
from backoffice.desk.items import DeskItem, DeskKind, Money
from backoffice.desk.kinds import KINDS
from backoffice.desk.notes import ORDER, comments_on
from fulfillments.models import Fulfillment
from orders.backorders.expected_days import expected_by_order
from orders.models import Order
from orders.open_amounts import open_amounts

WINDOW = 500
"""The number of rows of each kind that are sorted together."""
COUNTED = 100_000
"""The rows of a kind are counted up to this number."""


Counts = list[tuple[DeskKind, int]]


@dataclass(frozen=True)
class DeskFilter:
    """The filters of the desk. An empty filter shows all rows except snoozed rows."""

    kind: str = ""
    supplier: int | None = None
    retailer: int | None = None
    hours: int | None = None
    taken: str = ""
    """Empty, `mine` (assigned to `person`), `free` (unassigned) or `snoozed`."""
    person: str = ""

    @property
    def query(self) -> str:
        """Return the URL parameters of the filters, without the person, who is the signed-in operator."""
        filters = asdict(self) | {"person": ""}
        return urlencode({name: value for name, value in filters.items() if value})


@dataclass(frozen=True)
class DeskPage:
    """One page of rows. `counts` has the count of rows per kind: at most COUNTED + 1, or -1 if unknown."""

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
    """The rows that were read for each kind, and the names of the kinds that have further rows."""

    rows: dict[str, list[DeskEntry]] = field(default_factory=dict)
    open_kinds: set[str] = field(default_factory=set)

    @property
    def horizon(self) -> datetime | None:
        """The deadline up to which the rows of all kinds were read; None if no kind has more rows."""
        ends = [self.rows[name][-1] for name in self.open_kinds]
        return min((entry.kind.moment(entry.due) or LAST for entry in ends), default=None)

    def known(self) -> list[DeskEntry]:
        horizon = self.horizon
        entries = [entry for rows in self.rows.values() for entry in rows]
        if horizon is None:
            return entries
        return [entry for entry in entries if (entry.kind.moment(entry.due) or LAST) <= horizon]

    def behind(self, cursor: DeskCursor) -> dict[str, Position]:
        """Return, for each kind, the position after which the next window begins."""
        positions = dict(cursor.behind)
        for entry in self.known():
            name = entry.kind.name
            positions[name] = max(positions.get(name, entry.position), entry.position)
        return positions


def gather(
    kinds: Sequence[DeskKind], wanted: DeskFilter, count: int = 50, start: str = "", *, exact: bool = False
) -> DeskPage:
    """Return one page of rows of these kinds. The number of queries depends only on the number of kinds.

    With `exact`, more queries count the rows: one query for each kind with more than WINDOW rows, and one
    query for the total.
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
    """Count the rows of the named kinds, with one query for each of these kinds."""
    return [
        (kind, narrowed(kind, wanted).order_by()[: COUNTED + 1].count() if kind.name in names else count)
        for kind, count in counts
    ]


def _waiting(wanted: DeskFilter, counts: Counts) -> tuple[int, bool]:
    """Return the count of all rows, each order once, and whether this count is exact."""
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
        rows = rows.filter(**{kind.retailer: wanted.retailer}) if kind.retailer else rows.none()
    if wanted.supplier:
        if kind.model is Order:  # EXISTS instead of a join: an order has many fulfillments
            work = Fulfillment.objects.filter(order=OuterRef("pk"), supplier=wanted.supplier)
            rows = rows.filter(Exists(work.order_by()))
        else:
            rows = rows.filter(**{kind.supplier: wanted.supplier})
    if wanted.hours:
        rows = rows.filter(**{f"{kind.since}__lte": timezone.now() - timedelta(hours=wanted.hours)})
    # All problems of an order share the order's note.
    notes = OperatorNote.objects.filter(model=ORDER if kind.order else rows.model._meta.label_lower)
    noted = f"{kind.order or 'pk'}__in"
    snoozed = {noted: notes.filter(snoozed_until__gt=timezone.now()).values("record_id")}
    rows = rows.filter(**snoozed) if wanted.taken == "snoozed" else rows.exclude(**snoozed)
    if wanted.taken == "mine":
        rows = rows.filter(**{noted: notes.filter(assigned_to=wanted.person).values("record_id")})
    elif wanted.taken == "free":
        rows = rows.exclude(**{noted: notes.exclude(assigned_to="").values("record_id")})
    return rows


def _first(rows: Sequence[DeskEntry], after: Rank | None, count: int) -> list[DeskEntry]:
    """Return the first `count` rows after a rank.

    Amounts decide the order of rows with equal deadlines. To save work, read amounts only for the rows that
    can reach the page.
    """
    rest = sorted(rows, key=lambda row: row.deadline)
    seen = 0  # rows with the last deadline of the previous page: the previous page may have shown them
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
    """Remove the orders that an earlier window showed under another kind.

    Give each remaining order its entries of all kinds, because the window may lack some of these entries.
    """
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
    """Read the records of the rows, one query per kind. Leave out records that are no longer of the kind."""
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
    keys = [(ORDER, item.order_id) if item.order_id else (item.model, item.record.pk) for item in items]
    notes = OperatorNote.objects.filter(record_id__in=[number for _, number in keys])
    by_record = {(note.model, note.record_id): note for note in notes}
    for item, key in zip(items, keys, strict=True):
        item.note = by_record.get(key)
    comments = comments_on([(item.model, item.record.pk) for item in items])
    for item in items:
        item.comments = comments.get((item.model, item.record.pk), [])

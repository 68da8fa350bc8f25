"""The performance of many suppliers or retailers: sums of some days, compared with the days before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.scopes import Role
from fastdb.standbys.reads import reads_from_standby
from fulfillments.models import PerformanceTarget
from fulfillments.scorecard import measures
from fulfillments.scorecard.measures import BOUNDS

# The query starts at the partnerships, to use the index of the sums. Partnerships are never deleted, so the
# query finds all sums.
SUMS = """
    SELECT p.{party}_id, s.day >= %(first)s,
        coalesce(sum(s.count) FILTER (WHERE s.measure = %(created)s), 0),
        coalesce(sum(s.count) FILTER (WHERE s.measure = %(to_ship)s), 0),
        coalesce(sum(s.count) FILTER (WHERE s.measure = %(to_ship)s AND s.bucket
            < array_position(%(bounds)s::int[], coalesce(t.ship_within_hours, %(within)s)::int)), 0),
        coalesce(sum(s.count) FILTER (WHERE s.measure = %(rejected)s), 0),
        coalesce(sum(s.count * coalesce(t.on_time_percent, %(on_time)s))
            FILTER (WHERE s.measure = %(to_ship)s), 0),
        coalesce(sum(s.count * coalesce(t.most_refused_percent, %(refused)s))
            FILTER (WHERE s.measure = %(created)s), 0)
    FROM accounts_partnership p
    JOIN fulfillments_dailysum s ON s.supplier_id = p.supplier_id AND s.retailer_id = p.retailer_id
        AND s.day BETWEEN %(before)s AND %(last)s
    LEFT JOIN fulfillments_performancetarget t ON t.partnership_id = p.id
    WHERE (%(supplier)s::bigint IS NULL OR p.supplier_id = %(supplier)s)
        AND (%(retailer)s::bigint IS NULL OR p.retailer_id = %(retailer)s)
    GROUP BY 1, 2
"""


@dataclass
class Period:
    """The sums of a period of days.

    A goal is a sum over partnerships: the partnership's target in percent, multiplied by its number of
    fulfillments.
    """

    received: int = 0
    shipped: int = 0
    on_time: int = 0
    refused: int = 0
    on_time_goals: int = 0
    refused_goals: int = 0

    @property
    def late(self) -> int:
        return self.shipped - self.on_time

    @property
    def on_time_percent(self) -> Decimal | None:
        return _percent(100 * self.on_time, self.shipped)

    @property
    def on_time_goal(self) -> Decimal | None:
        return _percent(self.on_time_goals, self.shipped)

    @property
    def refused_percent(self) -> Decimal | None:
        return _percent(100 * self.refused, self.received)

    @property
    def refused_goal(self) -> Decimal | None:
        return _percent(self.refused_goals, self.received)

    @property
    def is_too_late(self) -> bool:
        """Whether the target of shipments on time is missed."""
        return 100 * self.on_time < self.on_time_goals

    @property
    def is_refused_too_often(self) -> bool:
        return 100 * self.refused > self.refused_goals

    def add(self, other: Period) -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass
class Performance:
    """The performance of one party or of all parties: in a period, and in an equally long period before."""

    now: Period = field(default_factory=Period)
    before: Period = field(default_factory=Period)

    @property
    def more_received(self) -> Decimal | None:
        """The change of the number of received fulfillments, in percent."""
        return _percent(100 * (self.now.received - self.before.received), self.before.received)

    @property
    def on_time_change(self) -> Decimal | None:
        """The change of the share on time, in percentage points."""
        return _difference(self.now.on_time_percent, self.before.on_time_percent)

    @property
    def refused_change(self) -> Decimal | None:
        """The change of the share refused, in percentage points."""
        return _difference(self.now.refused_percent, self.before.refused_percent)

    @property
    def rank(self) -> tuple[Decimal, Decimal, int]:
        """The sort key: first the higher share on time, then fewer refusals, then more fulfillments."""
        on_time, refused = self.now.on_time_percent, self.now.refused_percent
        return (
            -(Decimal(-1) if on_time is None else on_time),
            Decimal(101) if refused is None else refused,
            -self.now.received,
        )


@dataclass(frozen=True)
class Days:
    """A period of `count` days that ends with today (UTC), and the period of equal length before it."""

    count: int
    last: date = field(default_factory=lambda: timezone.now().date())

    @property
    def first(self) -> date:
        return self.last - timedelta(days=self.count - 1)

    @property
    def before(self) -> date:
        return self.first - timedelta(days=self.count)


@reads_from_standby
def performances(
    role: Role, days: Days, *, supplier_id: int | None = None, retailer_id: int | None = None
) -> dict[int, Performance]:
    """Return the performance by supplier id or by retailer id, depending on `role`. Makes two queries."""
    common = PerformanceTarget.common()
    params: dict[str, Any] = {
        "first": days.first,
        "last": days.last,
        "before": days.before,
        "created": measures.CREATED,
        "to_ship": measures.TO_SHIP,
        "rejected": measures.REJECTED,
        "bounds": [*BOUNDS],
        "within": common.ship_within_hours,
        "on_time": common.on_time_percent,
        "refused": common.most_refused_percent,
        "supplier": supplier_id,
        "retailer": retailer_id,
    }
    found: dict[int, Performance] = {}
    with connection.cursor() as cursor:
        cursor.execute(SUMS.format(party=role.value), params)
        for party_id, is_now, *sums in cursor.fetchall():
            performance = found.setdefault(party_id, Performance())
            period = Period(*(int(each) for each in sums))
            if is_now:
                performance.now = period
            else:
                performance.before = period
    return found


def total(parties: Iterable[Performance]) -> Performance:
    """Return the performance of all these parties together."""
    whole = Performance()
    for each in parties:
        whole.now.add(each.now)
        whole.before.add(each.before)
    return whole


def ranked(found: dict[int, Performance]) -> Sequence[tuple[int, Performance]]:
    """Return the parties that received or shipped fulfillments in these days, the best party first."""
    active = [each for each in found.items() if each[1].now.received or each[1].now.shipped]
    return sorted(active, key=lambda each: (each[1].rank, each[0]))


def _percent(hundredfold: int, whole: int) -> Decimal | None:
    return round(Decimal(hundredfold) / whole, 1) if whole else None


def _difference(now: Decimal | None, before: Decimal | None) -> Decimal | None:
    return None if now is None or before is None else now - before

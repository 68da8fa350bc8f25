"""Suppliers' scorecards, read from daily sums instead of events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from accounts.models import Retailer, Supplier
from events.models import Event
from fulfillments.models import DailySum, Fulfillment
from fulfillments.scorecard import measures
from fulfillments.scorecard.measures import BOUNDS
from fulfillments.states import CANCELING, WORKABLE
from inventory.models import Warehouse

MOST_COUNTED = 1_000
ALL = 0
"""The `retailer_id` of the sums over all retailers."""


@dataclass
class Times:
    """The durations of one measure: their number, their sum in seconds, and the number in each bucket."""

    count: int = 0
    seconds: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    @property
    def average_hours(self) -> float | None:
        return round(self.seconds / self.count / 3600, 1) if self.count else None

    @property
    def median_hours(self) -> float | None:
        """An estimate of the median. It assumes that durations are spread evenly in each bucket."""
        if not self.count:
            return None
        before, half = 0, self.count / 2
        for low, high, count in zip((0, *BOUNDS), (*BOUNDS, BOUNDS[-1]), self.buckets, strict=True):
            if count and before + count >= half:
                return round(low + (high - low) * (half - before) / count, 1)
            before += count
        return float(BOUNDS[-1])

    def within(self, hours: int) -> int:
        """Return the number of durations below `hours`, which must be an element of BOUNDS."""
        return sum(self.buckets[: BOUNDS.index(hours) + 1])


@dataclass(frozen=True)
class Scorecard:
    """A supplier's results of some days, for one retailer or for all retailers."""

    supplier: Supplier
    retailer: Retailer | None
    first: date
    last: date
    counts: Mapping[str, int]
    times: Mapping[str, Times]
    by_day: Mapping[date, Mapping[str, int]]
    open_now: int
    overdue_now: int
    fed_at: datetime | None

    @classmethod
    def of(cls, supplier: Supplier, days: int, retailer: Retailer | None = None) -> Scorecard:
        """Return the scorecard of the last `days` up to today (UTC), in a fixed number of queries.

        If the retailer no longer trades with the supplier, `fed_at` is None and no feeds are counted: the
        retailer sees the results of its own orders, but not the age of the stock.
        """
        last = timezone.now().date()
        first = last - timedelta(days=days - 1)
        counts: defaultdict[str, int] = defaultdict(int)
        times: defaultdict[str, Times] = defaultdict(Times)
        by_day: dict[date, defaultdict[str, int]] = {
            first + timedelta(days=number): defaultdict(int) for number in range(days)
        }
        sees_feeds = retailer is None or _trades(retailer, supplier)
        wanted = Q(retailer_id=retailer.pk if retailer else ALL)
        if sees_feeds:
            wanted |= Q(retailer_id=ALL, measure=measures.FEEDS)  # a feed belongs to no retailer
        sums = DailySum.objects.filter(wanted, supplier_id=supplier.pk, day__range=(first, last))
        for day, measure, bucket, count, seconds in sums.values_list(
            "day", "measure", "bucket", "count", "seconds"
        ):
            counts[measure] += count
            by_day[day][measure] += count
            if measure in measures.TIMES:
                times[measure].count += count
                times[measure].seconds += seconds
                times[measure].buckets[bucket] += count
        fulfillments = Fulfillment.objects.for_supplier(supplier)
        if retailer is not None:
            fulfillments = fulfillments.filter(order__retailer=retailer)
        return cls(
            supplier,
            retailer,
            first,
            last,
            counts,
            {name: times[name] for name in measures.TIMES},
            by_day,
            open_now=fulfillments.filter(state__in=[*WORKABLE, CANCELING])
            .order_by()[: MOST_COUNTED + 1]
            .count(),
            overdue_now=fulfillments.overdue().order_by()[: MOST_COUNTED + 1].count(),
            fed_at=last_feed(supplier) if sees_feeds else None,
        )

    @property
    def refusals(self) -> int:
        """The number of fulfillments with rejected units."""
        return self.counts[measures.REJECTED]

    @property
    def refusal_rate(self) -> float | None:
        """The number of fulfillments with rejected units, divided by the number of new fulfillments."""
        created = self.counts[measures.CREATED]
        return round(self.refusals / created, 4) if created else None

    @property
    def feed_age_hours(self) -> float | None:
        if self.fed_at is None:
            return None
        return round((timezone.now() - self.fed_at).total_seconds() / 3600, 1)

    def days(self) -> Iterator[tuple[date, Mapping[str, int]]]:
        return iter(self.by_day.items())


def _trades(retailer: Retailer, supplier: Supplier) -> bool:
    return retailer.partnerships.trading().filter(supplier=supplier).exists()


def last_feed(supplier: Supplier) -> datetime | None:
    """Return the time of the last push or file with the supplier's stock. Makes three short queries.

    A push without changes has no event. The push only updates `heard_at` of its warehouse, and only if the
    former value is some minutes old.
    """
    heard = Warehouse.objects.filter(supplier=supplier, heard_at__isnull=False)
    moments = [moment for moment in heard.values_list("heard_at", flat=True) if moment]
    events = Event.objects.published().filter(supplier=supplier)
    pushed = (
        events.filter(type="inventory.updated", area="inventory")
        .order_by("-number")
        .values_list("occurred_at", flat=True)
    )
    files = events.filter(type="import.succeeded", area="inventory")
    imported = files.order_by("-number").values_list("occurred_at", flat=True)
    for rows in (pushed, imported):
        moments += rows[:1]
    return max(moments, default=None)

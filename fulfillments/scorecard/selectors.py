"""A supplier's scorecard: from the sums of its days, never from its history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.utils import timezone

from accounts.models import Retailer, Supplier
from events.models import Event
from fulfillments.models import DailySum, Fulfillment
from fulfillments.scorecard import measures
from fulfillments.scorecard.measures import BOUNDS
from fulfillments.states import State
from inventory.models import Warehouse

MOST_COUNTED = 1_000
ALL = 0
"""The retailer of the sums over all retailers."""


@dataclass
class Times:
    """How long something took: so often, the seconds of all, and how many fell into each bucket."""

    count: int = 0
    seconds: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    @property
    def average_hours(self) -> float | None:
        return round(self.seconds / self.count / 3600, 1) if self.count else None

    @property
    def median_hours(self) -> float | None:
        """About: as if those in a bucket were spread evenly over it."""
        if not self.count:
            return None
        before, half = 0, self.count / 2
        for low, high, count in zip((0, *BOUNDS), (*BOUNDS, BOUNDS[-1]), self.buckets, strict=True):
            if count and before + count >= half:
                return round(low + (high - low) * (half - before) / count, 1)
            before += count
        return float(BOUNDS[-1])

    def within(self, hours: int) -> int:
        """How many took less than so many hours, which are one of BOUNDS."""
        return sum(self.buckets[: BOUNDS.index(hours) + 1])


@dataclass(frozen=True)
class Scorecard:
    """How a supplier did in these days, for one retailer or for all."""

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
        """The last so many days, today among them (UTC). A handful of queries, whatever has happened.

        A retailer that does not trade with it now hears of its own orders, and nothing of the stock.
        """
        last = timezone.now().date()
        first = last - timedelta(days=days - 1)
        counts: defaultdict[str, int] = defaultdict(int)
        times: defaultdict[str, Times] = defaultdict(Times)
        by_day: dict[date, defaultdict[str, int]] = {
            first + timedelta(days=number): defaultdict(int) for number in range(days)
        }
        sums = DailySum.objects.filter(
            supplier_id=supplier.pk, retailer_id=retailer.pk if retailer else ALL, day__range=(first, last)
        )
        for day, measure, bucket, count, seconds in sums.values_list(
            "day", "measure", "bucket", "count", "seconds"
        ):
            counts[measure] += count
            by_day[day][measure] += count
            if measure in measures.TIMES:
                times[measure].count += count
                times[measure].seconds += seconds
                times[measure].buckets[bucket] += count
        work = Fulfillment.objects.for_supplier(supplier)
        if retailer is not None:
            work = work.filter(order__retailer=retailer)
        unfinished = (State.NEW, State.ACCEPTED, State.CANCELATION_NOT_ALLOWED, State.CANCELING)
        return cls(
            supplier,
            retailer,
            first,
            last,
            counts,
            {name: times[name] for name in measures.TIMES},
            by_day,
            open_now=work.filter(state__in=unfinished).order_by()[: MOST_COUNTED + 1].count(),
            overdue_now=work.overdue().order_by()[: MOST_COUNTED + 1].count(),
            fed_at=last_feed(supplier) if retailer is None or _trades(retailer, supplier) else None,
        )

    @property
    def refusals(self) -> int:
        return sum(self.counts[name] for name in measures.REFUSALS)

    @property
    def refusal_rate(self) -> float | None:
        """Refusals for each fulfillment that it got, from 0 to 1 and, where lines were refused, beyond."""
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
    """When its stock was last heard of by a push or a file: three short looks.

    A push that changes nothing is noted with its warehouse, to some minutes.
    """
    heard = Warehouse.objects.filter(supplier=supplier, heard_at__isnull=False)
    moments = [moment for moment in heard.values_list("heard_at", flat=True) if moment]
    fed = Event.objects.published().filter(supplier=supplier)
    pushed = fed.filter(type="inventory.updated").order_by("-number").values_list("occurred_at", flat=True)
    files = fed.filter(type="import.succeeded", area="inventory")
    landed = files.order_by("-number").values_list("occurred_at", flat=True)
    for rows in (pushed, landed):
        moments += rows[:1]
    return max(moments, default=None)

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.fields import DateTimeField
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse

from accounts.operating.admin_filters import FlagFilter
from accounts.operating.day_filter import MARGIN, first_since
from api.ids import as_id
from events.models import Event
from fulfillments.models import Fulfillment, PerformanceTarget
from fulfillments.models.conditions import OPEN_WORK
from fulfillments.scorecard.measures import REFUSALS
from fulfillments.states import (
    ACCEPT,
    APPROVE_CANCELATION,
    CORRECTED,
    REFUSE_CANCELATION,
    REJECT_OUT_OF_STOCK,
    REQUEST_CANCELATION,
    SHIP,
    State,
)


class OpenWorkFilter(FlagFilter):
    """A filter that keeps fulfillments with open work.

    With this filter, the list can be sorted by time limit and by amount, because both have an index.
    """

    title, parameter_name, label = "open", "open", "Open"

    @classmethod
    def narrow(cls, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(OPEN_WORK)


class OverdueFilter(FlagFilter):
    """A filter that keeps overdue fulfillments."""

    title, parameter_name, label = "overdue", "overdue", "Overdue"

    @classmethod
    def narrow(cls, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows & Fulfillment.objects.overdue()


# For each count on a scorecard, the events that add a fulfillment to the count
# (`fulfillments.scorecard.sums`).
ANSWERED = Q(from_state=State.CANCELING, type__in=[APPROVE_CANCELATION.event, REFUSE_CANCELATION.event])
BY_TIME_LIMIT = Q(actor="system:cancelation time limit")
SHIPPED = Q(type=SHIP.event)
COUNTED_EVENTS = {
    "received": Q(type="fulfillment.created"),
    "accepted": Q(type=ACCEPT.event),
    "shipped": SHIPPED,
    "late": SHIPPED,
    "refused": Q(type=REJECT_OUT_OF_STOCK.event, data__reason__in=REFUSALS),
    **{name: Q(type=REJECT_OUT_OF_STOCK.event, data__reason=name) for name in REFUSALS},
    "cancel_requested": Q(type=REQUEST_CANCELATION.event) & ~Q(from_state=State.CANCELING),
    "cancel_approved": ANSWERED & Q(type=APPROVE_CANCELATION.event) & ~BY_TIME_LIMIT,
    "cancel_refused": ANSWERED & Q(type=REFUSE_CANCELATION.event) & ~BY_TIME_LIMIT,
    "cancel_unanswered": ANSWERED & BY_TIME_LIMIT,
    "doubtful_tracking": Q(type__in=[SHIP.event, CORRECTED], data__doubtful=True),
}
COUNTED_ONCE = {"accepted", "refused", *REFUSALS}
"""The counts that add a fulfillment only at its first such event."""
SAME_FULFILLMENT = Q(order_id=OuterRef("order_id"), fulfillment_id=OuterRef("fulfillment_id"))


@dataclass(frozen=True)
class Counted:
    """The description of one number on a scorecard: the name of the count, the days, and the parties.

    The id 0 means all suppliers or all retailers.
    """

    count: str
    first: date
    last: date
    supplier_id: int = 0
    retailer_id: int = 0

    @classmethod
    def read(cls, text: str) -> Counted:
        """Parse a text such as `refused.2026-10-25.2026-11-23.1.0`. Raises ValueError for other texts."""
        count, first, last, supplier_id, retailer_id = text.split(".")
        if count not in COUNTED_EVENTS:
            raise ValueError(f"unknown count {count}")
        days = date.fromisoformat(first), date.fromisoformat(last)
        if date.min in days or date.max in days:  # the day before or after does not exist
            raise ValueError(f"unknown days {first} to {last}")
        return cls(count, *days, as_id(supplier_id), as_id(retailer_id))

    def __str__(self) -> str:
        return f"{self.count}.{self.first}.{self.last}.{self.supplier_id}.{self.retailer_id}"

    @property
    def label(self) -> str:
        return f"{self.count.replace('_', ' ').capitalize()}, {self.first:%-d %b} to {self.last:%-d %b %Y}"

    @property
    def url(self) -> str:
        return f"{reverse('admin:fulfillments_fulfillment_changelist')}?{CountedFilter.parameter_name}={self}"

    def fulfillments(self, rows: QuerySet[Fulfillment]) -> QuerySet[Fulfillment]:
        """Keep the fulfillments that this number of the scorecard counts."""
        parties = {"supplier_id": self.supplier_id, "retailer_id": self.retailer_id}
        of_parties = {name: value for name, value in parties.items() if value}
        events = self._events().filter(**self._bounds(), **of_parties)
        rows = rows.filter(pk__in=events.filter(fulfillment_id__isnull=False).values("fulfillment_id"))
        return self._late(rows, events) if self.count == "late" else rows

    def _events(self) -> QuerySet[Event]:
        counted = COUNTED_EVENTS[self.count]
        events = Event.objects.filter(counted)
        of_fulfillment = Event.objects.filter(SAME_FULFILLMENT)
        if self.count in COUNTED_ONCE:
            return events.exclude(Exists(of_fulfillment.filter(counted, pk__lt=OuterRef("pk"))))
        if counted == SHIPPED:  # count only the last parcel up to the completion
            completed = of_fulfillment.filter(to_state=State.SHIPPED).order_by("pk").values("pk")[:1]
            later = of_fulfillment.filter(counted, pk__gt=OuterRef("pk"), pk__lte=OuterRef("completed"))
            until = events.annotate(completed=Subquery(completed)).filter(pk__lte=F("completed"))
            return until.exclude(Exists(later))
        return events

    def _bounds(self) -> dict[str, object]:
        """Return the conditions that select the events of these days.

        The condition on `number` lets PostgreSQL skip older events, because `number` has an index.
        """
        begin = datetime.combine(self.first, time.min, UTC)
        end = datetime.combine(self.last, time.min, UTC) + timedelta(days=1)
        first_id = first_since(Event, "occurred_at", begin - MARGIN) or 0
        numbers = Event.objects.published().filter(pk__gte=first_id).order_by("pk").values_list("number")
        start = numbers.first()
        return {
            "number__gte": start[0] if start else 0,
            "occurred_at__gte": begin,
            "occurred_at__lt": end,
        }

    def _late(self, rows: QuerySet[Fulfillment], events: QuerySet[Event]) -> QuerySet[Fulfillment]:
        hours = Coalesce(
            F("partnership__targets__ship_within_hours"), PerformanceTarget.common().ship_within_hours
        )
        limit = ExpressionWrapper(F("created_at") + hours * Value(timedelta(hours=1)), DateTimeField())
        shipped = events.filter(order_id=OuterRef("order_id"), fulfillment_id=OuterRef("pk"))
        return rows.annotate(ship_limit=limit).filter(
            Exists(shipped.filter(occurred_at__gte=OuterRef("ship_limit")))
        )


class CountedFilter(SimpleListFilter):
    """A filter for the fulfillments behind a number on a scorecard. The number links to the filtered list."""

    title, parameter_name = "counted on the scorecard", "counted"

    def counted(self) -> Counted | None:
        try:
            return Counted.read(self.value() or "") if self.value() else None
        except ValueError as error:
            raise IncorrectLookupParameters from error

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        counted = self.counted()
        return [(str(counted), counted.label)] if counted else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        counted = self.counted()
        return counted.fulfillments(queryset) if counted else queryset

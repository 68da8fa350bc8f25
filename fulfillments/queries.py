"""Reading fulfillments: with all that a supplier needs to ship, in a constant number of queries."""

from __future__ import annotations

from collections.abc import Iterable

import django_filters
from django.db import connection
from django.db.models import Prefetch, Q, QuerySet

from api.filters import StrictFilterSet
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.records import Capture
from fulfillments.states import CANCELED, CANCELING, CAPTURABLE, WORKABLE, State


def with_details(fulfillments: QuerySet[Fulfillment]) -> QuerySet[Fulfillment]:
    """With order, partnership and capture in one query; lines, parcels, refusals, returns in one each."""
    lines = FulfillmentLine.objects.select_related("variant", "order_line").order_by("pk")
    return fulfillments.select_related("order", "partnership__retailer", "capture").prefetch_related(
        Prefetch("lines", lines), "shipments", "rejections", "returns"
    )


def not_held(fulfillments: QuerySet[Fulfillment]) -> QuerySet[Fulfillment]:
    """Without the work of orders that operators hold back."""
    return fulfillments.exclude(state__in=WORKABLE, order__held=True)


def mark_captured(fulfillments: list[Fulfillment]) -> None:
    """Keep when these were first handed out. Locks nothing that a move or another capture needs."""
    fresh = [each for each in fulfillments if getattr(each, "capture", None) is None]
    if not fresh:
        return
    ids = [each.pk for each in fresh]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO fulfillments_capture (fulfillment_id) SELECT unnest(%s::bigint[])"
            " ON CONFLICT DO NOTHING",
            [ids],
        )
    captures = Capture.objects.in_bulk(ids)
    for each in fresh:
        each.capture = captures[each.pk]


RETAILER_STATES = {
    "ordered": ~Q(state__in=[CANCELING, CANCELED]) & Q(order__held=False),
    "pending": ~Q(state__in=[CANCELING, CANCELED]) & Q(order__held=True),
    "canceling": Q(state=CANCELING),
    "cancelling": Q(state=CANCELING),
    "canceled": Q(state=CANCELED),
}
FULFILLMENT_STATES = {
    **{str(state): Q(state=state) for state in State},
    "new": Q(state__in=CAPTURABLE),  # what a refused cancellation gave back is captured with it
    "cancelling": Q(state=CANCELING),
}


def _choice(names: Iterable[str], method: str) -> django_filters.ChoiceFilter:
    return django_filters.ChoiceFilter(
        choices=[(name, name) for name in names],
        method=method,
        error_messages={"invalid_choice": f"%(value)s is none of {', '.join(names)}."},
    )


class FulfillmentFilter(StrictFilterSet):
    """`?filter={"retailer_state": "ordered", "fulfillment_state": "new"}`, or the two as parameters."""

    retailer_state = _choice(RETAILER_STATES, "by_retailer_state")
    fulfillment_state = _choice(FULFILLMENT_STATES, "by_fulfillment_state")

    def by_retailer_state(
        self, queryset: QuerySet[Fulfillment], name: str, value: str
    ) -> QuerySet[Fulfillment]:
        return queryset.filter(RETAILER_STATES[value])

    def by_fulfillment_state(
        self, queryset: QuerySet[Fulfillment], name: str, value: str
    ) -> QuerySet[Fulfillment]:
        return queryset.filter(FULFILLMENT_STATES[value])

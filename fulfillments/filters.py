"""The filters of a capture (interface 4.1)."""

from __future__ import annotations

import re

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter

from api.filters import StrictFilterSet, choice_filter
from fulfillments.models import HELD, Fulfillment
from fulfillments.serializers import FulfillmentJson
from fulfillments.states import CANCELED, CANCELING, CAPTURABLE, State

RETAILER_STATES = {
    "ordered": ~Q(state__in=[CANCELING, CANCELED]) & ~HELD,
    "pending": HELD,
    "canceling": Q(state=CANCELING),
    "cancelling": Q(state=CANCELING),
    "canceled": Q(state=CANCELED),
}
FULFILLMENT_STATES = {
    **{str(state): Q(state=state) for state in State},
    "new": Q(state__in=CAPTURABLE),  # includes fulfillments whose cancellation the supplier refused
    "cancelling": Q(state=CANCELING),
}


MEANT = re.compile(r"state|status|filter", re.IGNORECASE)
PAGING = {"after", "before", "offset", "page", "page_size", "per_page"}
"""Parameters that continue a list in other APIs. In this API, only `cursor` continues a list."""
CHOOSING = {
    *FulfillmentJson.__annotations__,
    "from",
    "number",
    "q",
    "query",
    "search",
    "since",
    "sku",
    "until",
}
"""Parameters that choose rows in other APIs, such as `order_id`. This API chooses rows only by state."""


class FulfillmentFilter(StrictFilterSet):
    """The filter by retailer state and by fulfillment state.

    A client sends `?filter={"retailer_state": …, "fulfillment_state": …}`, or a parameter for each state.
    """

    @classmethod
    def looks_meant(cls, name: str, value: str) -> str:
        """Return the filter that an unknown parameter probably means, for the error message.

        An ignored parameter would be dangerous: the request would capture all fulfillments.
        """
        retailers = "retailer" in name.lower() or (
            value in RETAILER_STATES and value not in FULFILLMENT_STATES
        )
        if MEANT.search(name) or value in {*FULFILLMENT_STATES, *RETAILER_STATES}:
            return "retailer_state" if retailers else "fulfillment_state"
        if name.lower() in PAGING:
            return "cursor"
        return "fulfillment_state or retailer_state" if name.lower() in CHOOSING else ""

    retailer_state = choice_filter(RETAILER_STATES, method="by_retailer_state")
    fulfillment_state = choice_filter(FULFILLMENT_STATES, method="by_fulfillment_state")

    def by_retailer_state(
        self, queryset: QuerySet[Fulfillment], name: str, value: str
    ) -> QuerySet[Fulfillment]:
        return queryset.filter(RETAILER_STATES[value])

    def by_fulfillment_state(
        self, queryset: QuerySet[Fulfillment], name: str, value: str
    ) -> QuerySet[Fulfillment]:
        return queryset.filter(FULFILLMENT_STATES[value])


FILTERS = [
    OpenApiParameter(
        "filter",
        str,
        description='URL-encoded JSON: {"retailer_state": "ordered", "fulfillment_state": "new"}.',
    ),
    OpenApiParameter("retailer_state", str, enum=sorted(RETAILER_STATES)),
    OpenApiParameter(
        "fulfillment_state",
        str,
        enum=sorted(FULFILLMENT_STATES),
        description="`new` also returns fulfillments whose cancellation was refused; they keep their state. "
        "`canceling` and `cancelling` both return the fulfillments with an unanswered cancellation request.",
    ),
]

"""The filters and the sort order of the order list (contract 4)."""

from __future__ import annotations

from datetime import datetime, timedelta

import django_filters
from django.db.models import Exists, OuterRef, QuerySet
from rest_framework.request import Request

from api.errors import InvalidFilter
from api.filters import MomentFilter, StrictFilterSet, choice_filter
from api.pagination import Keyset
from orders.models import Order, OrderType
from orders.processing_state import ProcessingState


class CreatedFilter(MomentFilter):
    """A filter by creation time.

    A lower limit also limits `updated_at`, the sort key, which is never much earlier than the creation time.
    """

    # `updated_at` may be slightly earlier than `created_at`: it has whole milliseconds, and the system time
    # may be set back.
    SLACK = timedelta(minutes=1)

    def filter(self, qs: QuerySet[Order], value: datetime | None) -> QuerySet[Order]:
        narrowed = super().filter(qs, value)
        # A subtraction from a date in the year 1, the first year, could overflow.
        if value is not None and value.year > 1 and self.lookup_expr in ("gt", "gte"):
            narrowed = narrowed.filter(updated_at__gte=value - self.SLACK)
        return narrowed  # type: ignore[no-any-return]


def _moments(column: str, kind: type[MomentFilter] = MomentFilter) -> dict[str, MomentFilter]:
    bounds = {f"{column}__{step}": kind(column, step) for step in ("gt", "gte", "lt", "lte")}
    return {column: kind(column, "exact"), **bounds}


class OrderFilter(StrictFilterSet):
    """Filters as `?filter={"updated_at": {"gt": "…"}, "processing_state": "completed"}`, or as parameters."""

    processing_state = choice_filter(ProcessingState.values)
    type = choice_filter(OrderType.values)
    retailer_order_id = django_filters.CharFilter("retailer_order_id", method="newest")
    sales_order_number = django_filters.CharFilter("sales_order_number")

    def newest(self, queryset: QuerySet[Order], name: str, value: str) -> QuerySet[Order]:
        """Return the newest order with this number. A number can be used again after a cancellation."""
        later = Order.objects.filter(
            retailer=OuterRef("retailer"), retailer_order_id=value, generation__gt=OuterRef("generation")
        )
        return queryset.filter(~Exists(later), retailer_order_id=value)

    updated_at, updated_at__gt, updated_at__gte, updated_at__lt, updated_at__lte = _moments(
        "updated_at"
    ).values()
    created_at, created_at__gt, created_at__gte, created_at__lt, created_at__lte = _moments(
        "created_at", CreatedFilter
    ).values()


ORDERS = ("updated_at", "-updated_at", "id", "-id")


def keyset(request: Request) -> Keyset:
    """Return the sort order of the parameter `sort` or `ordering`, by default `updated_at`."""
    asked = {name: request.query_params.get(name, "") for name in ("sort", "ordering")}
    for name, order in asked.items():
        if order and order not in ORDERS:
            raise InvalidFilter.at(name, f"Must be one of {', '.join(ORDERS)}.")
    if asked["sort"] and asked["ordering"] and asked["sort"] != asked["ordering"]:
        raise InvalidFilter.at(
            "ordering", f"Is {asked['ordering']}, but sort is {asked['sort']}. Send one of them."
        )
    return Keyset(asked["sort"] or asked["ordering"] or "updated_at")

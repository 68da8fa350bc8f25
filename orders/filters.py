"""Filters of the order list (contract 4)."""

from __future__ import annotations

from datetime import datetime, timedelta

import django_filters
from django.db.models import QuerySet
from rest_framework.request import Request

from api.errors import InvalidFilter
from api.filters import MomentFilter, StrictFilterSet, choice_filter
from api.pagination import Keyset
from orders.models import Order, OrderType
from orders.processing_state import ProcessingState


class CreatedFilter(MomentFilter):
    """What was created since then was changed since then: so no order is read that rested before."""

    # A stamp may be a moment older than the creation: whole milliseconds, a clock that was set back.
    SLACK = timedelta(minutes=1)

    def filter(self, qs: QuerySet[Order], value: datetime | None) -> QuerySet[Order]:
        found = super().filter(qs, value)
        # "From the beginning" may be the first moment that there is.
        if value is not None and value.year > 1 and self.lookup_expr in ("gt", "gte"):
            found = found.filter(updated_at__gte=value - self.SLACK)
        return found  # type: ignore[no-any-return]


def _moments(column: str, kind: type[MomentFilter] = MomentFilter) -> dict[str, MomentFilter]:
    bounds = {f"{column}__{step}": kind(column, step) for step in ("gt", "gte", "lt", "lte")}
    return {column: kind(column, "exact"), **bounds}


class OrderFilter(StrictFilterSet):
    """`?filter={"updated_at": {"gt": "…"}, "processing_state": "completed"}`, or plain parameters."""

    processing_state = choice_filter(ProcessingState.values)
    type = choice_filter(OrderType.values)
    retailer_order_id = django_filters.CharFilter("retailer_order_id")
    sales_order_number = django_filters.CharFilter("sales_order_number")

    updated_at, updated_at__gt, updated_at__gte, updated_at__lt, updated_at__lte = _moments(
        "updated_at"
    ).values()
    created_at, created_at__gt, created_at__gte, created_at__lt, created_at__lte = _moments(
        "created_at", CreatedFilter
    ).values()


ORDERS = ("updated_at", "-updated_at", "id", "-id")


def keyset(request: Request) -> Keyset:
    """The order that `sort` or `ordering` asks for; by `updated_at` unless they say otherwise."""
    asked = {name: request.query_params.get(name, "") for name in ("sort", "ordering")}
    for name, order in asked.items():
        if order and order not in ORDERS:
            raise InvalidFilter.at(name, f"Must be one of {', '.join(ORDERS)}.")
    if asked["sort"] and asked["ordering"] and asked["sort"] != asked["ordering"]:
        raise InvalidFilter.at("ordering", f"Says {asked['ordering']}, and sort says {asked['sort']}.")
    return Keyset(asked["sort"] or asked["ordering"] or "updated_at")

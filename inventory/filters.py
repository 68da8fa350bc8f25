"""Filters of the lists of stock and of stock movements."""

from __future__ import annotations

import django_filters
from django import forms

from api.filters import StrictFilterSet, choice_filter
from api.ids import LARGEST_ID
from inventory.models import MovementKind, StockMovement


class IdFilter(django_filters.Filter):  # type: ignore[misc]
    """A filter by the exact id of a related row."""

    field_class = forms.IntegerField


class StockFilter(StrictFilterSet):
    """The exact filters of the stock list."""

    warehouse_id = IdFilter("warehouse_id", min_value=1, max_value=LARGEST_ID)
    sku = django_filters.CharFilter("variant__sku")
    variant_id = IdFilter("variant_id", min_value=1, max_value=LARGEST_ID)


class MovementFilter(StrictFilterSet):
    """The exact filters of the list of movements. `inventory.selectors.Movements` chooses the index."""

    warehouse_id = IdFilter("warehouse_id", min_value=1, max_value=LARGEST_ID)
    variant_id = IdFilter("variant_id", min_value=1, max_value=LARGEST_ID)
    order_id = IdFilter("order_id", min_value=1, max_value=LARGEST_ID)
    sku = django_filters.CharFilter("variant__sku")
    kind = choice_filter(MovementKind.values)

    class Meta:
        model = StockMovement
        fields: tuple[str, ...] = ()

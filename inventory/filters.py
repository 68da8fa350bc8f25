"""Filters of the stock list."""

from __future__ import annotations

import django_filters
from django import forms

from api.filters import StrictFilterSet, choice_filter
from inventory.models import MovementKind, StockMovement


class WarehouseIdFilter(django_filters.Filter):  # type: ignore[misc]
    """A warehouse's id."""

    field_class = forms.IntegerField


class StockFilter(StrictFilterSet):
    """Exact matches."""

    warehouse_id = WarehouseIdFilter("warehouse_id", min_value=1, max_value=2**63 - 1)
    sku = django_filters.CharFilter("variant__sku")
    variant_id = WarehouseIdFilter("variant_id", min_value=1, max_value=2**63 - 1)


class MovementFilter(StrictFilterSet):
    """Exact matches; which index answers them is the selector's business (`Movements`)."""

    warehouse_id = WarehouseIdFilter("warehouse_id", min_value=1, max_value=2**63 - 1)
    variant_id = WarehouseIdFilter("variant_id", min_value=1, max_value=2**63 - 1)
    order_id = WarehouseIdFilter("order_id", min_value=1, max_value=2**63 - 1)
    sku = django_filters.CharFilter("variant__sku")
    kind = choice_filter(MovementKind.values)

    class Meta:
        model = StockMovement
        fields: tuple[str, ...] = ()

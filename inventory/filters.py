"""Filters of the stock list."""

from __future__ import annotations

import django_filters
from django import forms

from api.filters import StrictFilterSet


class WarehouseIdFilter(django_filters.Filter):  # type: ignore[misc]
    """A warehouse's id."""

    field_class = forms.IntegerField


class StockFilter(StrictFilterSet):
    """Exact matches."""

    warehouse_id = WarehouseIdFilter("warehouse_id", min_value=1, max_value=2**63 - 1)
    sku = django_filters.CharFilter("variant__sku")
    variant_id = WarehouseIdFilter("variant_id", min_value=1, max_value=2**63 - 1)

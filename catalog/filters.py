"""Filters of the list of a supplier's variants."""

from __future__ import annotations

import django_filters

from api.filters import MomentFilter, StrictFilterSet
from catalog.models import Variant


class StrictBoolean(django_filters.ChoiceFilter):  # type: ignore[misc]
    """A filter that takes only `true` or `false`."""

    def __init__(self) -> None:
        super().__init__(
            choices=[("true", "true"), ("false", "false")],
            error_messages={"invalid_choice": "%(value)s is neither true nor false."},
        )

    def filter(self, qs, value):  # type: ignore[no-untyped-def]
        return super().filter(qs, {"true": True, "false": False}.get(value, value))


class VariantFilter(StrictFilterSet):
    """The filters of a list of variants: whole values, and `updated_at__gt`."""

    listed = StrictBoolean()
    updated_at__gt = MomentFilter("updated_at", "gt")

    class Meta:
        model = Variant
        fields = ("sku", "model", "upc", "ean", "gtin", "id_in_source")

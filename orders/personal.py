"""A mark for model fields that have a consumer's personal data. `orders.erasing` erases these fields."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db import models

AnyField = TypeVar("AnyField", bound="models.Field[Any, Any]")


def personal(field: AnyField) -> AnyField:
    """Mark a model field as personal. Migrations do not see the mark."""
    field.personal = True  # type: ignore[attr-defined]  # a mark of our own, read by `personal_fields`
    return field


def personal_fields(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    """Return the fields of a model that are marked as personal."""
    return [field for field in model._meta.concrete_fields if getattr(field, "personal", False)]


HARMLESS = {
    "Order": {
        *("retailer_order_id", "type", "id_in_source", "shipping_method_code", "sales_division_code"),
        *("sales_order_number", "when_short", "content_digest", "processing_state", "currency"),
    },
    "OrderLine": {"sku", "upc", "title"},
}
"""The text fields without personal data. A test checks that all other text fields are marked as personal."""


def text_fields(model: type[models.Model]) -> set[str]:
    """Return the names of the fields for free text, which may have personal data."""
    kinds = (models.CharField, models.TextField, models.JSONField)
    return {field.name for field in model._meta.concrete_fields if isinstance(field, kinds)}

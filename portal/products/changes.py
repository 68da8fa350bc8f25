"""The newest changes of a product, with the names of authors that the supplier may see."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.models import Supplier
from catalog.change_texts import old_and_new
from catalog.models import Variant, VariantChange
from portal.history import actor_names

MOST_CHANGES = 20


@dataclass(frozen=True)
class ProductChange:
    """A change of a product: its time, its author, and the old and new value of each field."""

    change: VariantChange
    by: str
    fields: list[tuple[str, str, str]]


def product_changes(supplier: Supplier, variant: Variant) -> list[ProductChange]:
    changes = list(VariantChange.objects.filter(variant_id=variant.pk).order_by("-id")[:MOST_CHANGES])
    names = actor_names(supplier, {change.actor for change in changes})
    return [ProductChange(change, names[change.actor], old_and_new(change)) for change in changes]

"""Which variants could fill a line: the retailer's active partners' listed ones (contract 4)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, Protocol

from django.db.models import OuterRef, Q, QuerySet, Subquery

from accounts.models import Partnership
from api.prepared import Given, Prepared, any_of
from catalog.models import Variant
from fulfillments.routing import Candidate
from inventory.models import Warehouse


class Asked(Protocol):
    """What a line says of the thing it wants."""

    sku: str
    upc: str
    asked_supplier_id: int | None
    asked_variant_id: int | None


class Market:
    """A retailer's active partners, and the variants of theirs that some lines ask for. Two queries."""

    def __init__(self, retailer_id: int, lines: Sequence[Asked]) -> None:
        self.partners = {each.supplier_id: each for each in _partners(retailer=retailer_id)}
        self.variants = _variants(suppliers=list(self.partners), **_asked(lines))
        self._by_id = {variant.pk: variant for variant in self.variants}
        self._by_upc = _grouped((variant.upc, variant) for variant in self.variants if variant.upc)
        self._by_sku = _grouped((variant.sku, variant) for variant in self.variants)

    def candidates(self, line: Asked, refused_by: Container[int] = ()) -> tuple[Candidate, ...]:
        """The variants that a line finds: by variant_id, else supplier_id and sku, else upc, else sku."""
        return tuple(self._candidate(variant, refused_by) for variant in self._found(line))

    def _found(self, line: Asked) -> list[Variant]:
        if line.asked_variant_id is not None:
            variant = self._by_id.get(line.asked_variant_id)
            found = [variant] if variant else []
        elif line.asked_supplier_id is not None and line.sku:
            found = self._by_sku.get(line.sku, [])
        else:
            found = self._by_upc.get(line.upc, []) or self._by_sku.get(line.sku, [])
        if line.asked_supplier_id is not None:
            found = [variant for variant in found if variant.supplier_id == line.asked_supplier_id]
        return found

    def _candidate(self, variant: Variant, refused_by: Container[int]) -> Candidate:
        partner = self.partners[variant.supplier_id]
        return Candidate(
            variant_id=variant.pk,
            supplier_id=variant.supplier_id,
            partnership=partner,
            # A supplier that tells no wholesale price is taken at its retail price.
            cost=variant.retail_price if variant.wholesale_price is None else variant.wholesale_price,
            priority=partner.supplier.priority,
            default_warehouse_id=partner.default_warehouse_id,
            takes_short=not partner.refuse_short_orders,
            refused=variant.supplier_id in refused_by,
        )


@Prepared
def _partners() -> QuerySet[Any]:
    """Each with where its supplier ships from by default: the warehouse it marked, else its oldest."""
    warehouses = Warehouse.objects.filter(supplier_id=OuterRef("supplier_id")).order_by("-is_default", "id")
    partners = Partnership.objects.active().filter(retailer_id=Given("retailer"))
    partners = partners.annotate(default_warehouse_id=Subquery(warehouses.values("id")[:1]))
    return partners.select_related("supplier").order_by("supplier_id")


@Prepared
def _variants() -> QuerySet[Variant]:
    asked = Q(any_of("pk", "ids")) | Q(any_of("sku", "skus")) | Q(any_of("upc", "upcs"))
    listed = Variant.objects.filter(asked, any_of("supplier_id", "suppliers"), listed=True).order_by("id")
    return listed.only("supplier_id", "sku", "upc", "retail_price", "wholesale_price")


def _asked(lines: Sequence[Asked]) -> dict[str, list[Any]]:
    """What the lines name: ids, or else UPCs and skus."""
    named = [line for line in lines if line.asked_variant_id is None]
    return {
        "ids": [line.asked_variant_id for line in lines if line.asked_variant_id is not None],
        "upcs": [line.upc for line in named if line.upc],
        "skus": [line.sku for line in named if line.sku],
    }


def _grouped(pairs: Iterable[tuple[str, Variant]]) -> dict[str, list[Variant]]:
    groups: dict[str, list[Variant]] = {}
    for key, variant in pairs:
        groups.setdefault(key, []).append(variant)
    return groups

"""Queries of a supplier's stock in one warehouse."""

from __future__ import annotations

from datetime import date

from django.db.models import Exists, OuterRef, Prefetch, Q
from django.http import Http404

from accounts.models import Supplier
from api.ids import as_id
from catalog.models import Variant, VariantQuerySet
from inventory.models import ExpectedStock, StockLevel, Warehouse
from portal.listing import Tabs
from portal.products.selectors import is_available_in


def chosen_warehouse(supplier: Supplier, asked: str) -> tuple[Warehouse | None, list[Warehouse]]:
    """Return the chosen (else the default) warehouse, and all warehouses of the supplier.

    Raises Http404 if the supplier has no warehouse with the chosen id.
    """
    warehouses = list(Warehouse.objects.filter(supplier=supplier).order_by("-is_default", "pk"))
    for each in warehouses:
        each.supplier = supplier
    chosen = [each for each in warehouses if each.pk == as_id(asked)] if asked else warehouses[:1]
    if asked and not chosen:
        raise Http404
    return next(iter(chosen), None), warehouses


def stocked_products(supplier: Supplier, warehouse: Warehouse | None) -> VariantQuerySet:
    """Return all products of the supplier, with their stock and their restock date in this warehouse."""
    own = Variant.objects.for_supplier(supplier).select_related("supplier")
    return own.prefetch_related(
        Prefetch("stock", StockLevel.objects.filter(warehouse=warehouse)),
        Prefetch("expected_stock", ExpectedStock.objects.filter(warehouse=warehouse)),
    )


def stock_tabs(warehouse: Warehouse | None) -> Tabs:
    levels = StockLevel.objects.filter(variant=OuterRef("pk"), warehouse=warehouse)
    days = ExpectedStock.objects.filter(variant=OuterRef("pk"), warehouse=warehouse)
    available = is_available_in(StockLevel.objects.filter(warehouse=warehouse))
    return {
        "all": ("All", Q()),
        "available": ("Available", available),
        "empty": ("Not available", ~available),
        "short": ("More reserved than on hand", Q(Exists(levels.filter(overpromised=True)))),
        "expected": ("Restock expected", Q(Exists(days.filter(expected_at__isnull=False)))),
    }


def level_of(variant: Variant) -> StockLevel | None:
    """Return the stock of a product in the chosen warehouse."""
    return next(iter(variant.stock.all()), None)


def expected_on(variant: Variant) -> date | None:
    day = next(iter(variant.expected_stock.all()), None)
    return day.expected_at if day else None

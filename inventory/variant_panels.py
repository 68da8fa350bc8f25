"""The stock of a variant, as panels of its page in the admin."""

from __future__ import annotations

from django.contrib.auth import get_permission_codename
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.operating.record_panels import Panel
from catalog.models import Variant
from inventory.admin_actions import ACTIONS
from inventory.models import StockLevel, Warehouse
from inventory.selectors import Movements

MOST_MOVEMENTS = 50


def movements_table(variant_id: int, warehouses: dict[int, str]) -> str:
    """Render the newest movements of a variant in these warehouses, each with its cause."""
    movements = Movements([*warehouses], [variant_id]).fetch(None, descending=True, count=MOST_MOVEMENTS + 1)
    shown = movements[:MOST_MOVEMENTS]
    context = {
        "movements": [(movement, warehouses[movement.warehouse_id]) for movement in shown],
        "show_warehouse": len(warehouses) > 1,
        "more": f"{reverse('admin:inventory_stockmovement_changelist')}?q=variant:{variant_id}"
        if len(movements) > len(shown)
        else "",
    }
    return render_to_string("admin/inventory/movements.html", context)


def _levels(variant: Variant, request: HttpRequest) -> str:
    safety = variant.supplier.safety_stock
    rows = [
        (level, max(level.on_hand - level.reserved - safety, 0))
        for level in variant.stock.select_related("warehouse").order_by("warehouse_id")
    ]
    counting = f"inventory.{get_permission_codename('change', StockLevel._meta)}"
    context = {
        "rows": rows,
        "safety": safety,
        "may_count": request.user.has_perm(counting),
        "actions": [(action.name, action.label) for action in ACTIONS],
        "here": reverse("admin:catalog_variant_change", args=[variant.pk]),
    }
    return render_to_string("admin/inventory/levels.html", context)


def _movements(variant: Variant, request: HttpRequest) -> str:
    warehouses = Warehouse.objects.filter(supplier_id=variant.supplier_id)
    return movements_table(variant.pk, dict(warehouses.values_list("pk", "name")))


PANELS = (
    Panel[Variant]("stock", "stock by warehouse", _levels, rank=1),
    Panel[Variant]("stock_movements", "newest stock movements", _movements, rank=3),
)

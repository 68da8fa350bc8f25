"""Admin pages of warehouses, stock levels and stock movements."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.operating.admin_actions import ActingFormAdmin
from accounts.operating.admin_base import LongList, ReadOnlyAdmin
from api.ids import as_id
from api.prefix_search import begins
from catalog.forms import WholeForm
from catalog.models import Variant
from events.admin_base import RecordedAdmin
from inventory.admin_actions import ACTIONS
from inventory.admin_filters import OverpromisedFilter
from inventory.models import StockLevel, StockMovement, Warehouse
from inventory.variant_panels import movements_table


@admin.register(Warehouse)
class WarehouseAdmin(RecordedAdmin[Warehouse]):
    """The pages of warehouses. No warehouse can be deleted, because stock and fulfillments refer to it."""

    event_subject = "warehouse"
    form = WholeForm[Warehouse]
    list_display = ("name", "id", "supplier", "is_default")
    list_filter = ("supplier",)
    list_select_related = ("supplier",)
    search_fields = ("name",)
    autocomplete_fields = ("supplier",)

    def get_readonly_fields(self, request: HttpRequest, obj: Warehouse | None = None) -> tuple[str, ...]:
        return () if obj is None else ("supplier",)

    def has_delete_permission(self, request: HttpRequest, obj: Warehouse | None = None) -> bool:
        return False

    def event_fields(self, warehouse: Warehouse) -> dict[str, object]:
        data = {"name": warehouse.name, "is_default": warehouse.is_default}
        return {"area": "inventory", "supplier": warehouse.supplier, "data": data}


# The largest number of matching variants whose stock a search shows.
MOST_FOUND = 1_000


@admin.register(StockLevel)
class StockLevelAdmin(ActingFormAdmin[StockLevel], LongList[StockLevel]):
    """The pages of stock levels. Actions correct `on_hand`; `reserved` follows from orders."""

    record_actions = ACTIONS
    acts_with = ("variant", "warehouse")
    list_display = ("sku", "warehouse", "on_hand", "reserved", "overpromised", "counted_at", "updated_at")
    list_filter = (OverpromisedFilter, "warehouse")
    list_select_related = ("variant", "warehouse")
    search_help_text = "The beginning of a sku, or a whole UPC."
    fields = ("variant", "warehouse", "on_hand", "reserved", "counted_at", "updated_at", "movements")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[StockLevel]:
        return super().get_queryset(request).select_related("variant", "warehouse")

    @admin.display(description="newest movements")
    def movements(self, level: StockLevel) -> str:
        return movements_table(level.variant_id, {level.warehouse_id: level.warehouse.name})

    @admin.display(description="SKU")
    def sku(self, level: StockLevel) -> str:
        return level.variant.sku

    def search_condition(self, term: str) -> Q:
        # Find the variants first: with a join, PostgreSQL would join all stock rows.
        matching = begins("sku", term)
        if term.isdecimal() and len(term) == 12:
            matching |= Q(upc=term)
        return Q(variant_id__in=[*Variant.objects.filter(matching).values_list("pk", flat=True)[:MOST_FOUND]])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: StockLevel | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: StockLevel | None = None) -> bool:
        """Refuse edits by form: only the actions change stock (`has_act_permission`)."""
        return False


@admin.register(StockMovement)
class StockMovementAdmin(ReadOnlyAdmin[StockMovement]):
    """The read-only list of the stock ledger."""

    list_display = (
        *("occurred_at", "variant_id", "warehouse_id", "kind", "on_hand_change", "reserved_change"),
        *("on_hand", "reserved", "actor", "order_id", "import_id", "reason"),
    )
    search_help_text = "A full sku, variant:1 or order:1."

    def search_condition(self, term: str) -> Q:
        subject, _, number = term.partition(":")
        if subject in ("variant", "order") and number:
            return Q(**{f"{subject}_id": as_id(number)})
        return Q(variant_id__in=[*Variant.objects.filter(sku=term).values_list("pk", flat=True)[:100]])

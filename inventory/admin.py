"""Warehouses and stock for operators; what is promised beyond the stock is one click away."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from accounts.actors import Actor
from accounts.reading import LongList
from catalog.forms import WholeForm
from events.recording import record
from inventory.models import StockLevel, Warehouse


@admin.register(Warehouse)
class WarehouseAdmin(admin.ModelAdmin[Warehouse]):
    """Warehouses stay: stock and fulfillments name them."""

    form = WholeForm[Warehouse]
    list_display = ("name", "id", "supplier", "is_default")
    list_filter = ("supplier",)
    list_select_related = ("supplier",)
    search_fields = ("name",)
    raw_id_fields = ("supplier",)

    def get_readonly_fields(self, request: HttpRequest, obj: Warehouse | None = None) -> tuple[str, ...]:
        return () if obj is None else ("supplier",)

    def has_delete_permission(self, request: HttpRequest, obj: Warehouse | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: Warehouse, form: ModelForm[Warehouse], change: bool
    ) -> None:
        by = Actor.of_user(request.user)  # type: ignore[arg-type]  # the admin lets nobody else in
        with transaction.atomic():
            if change:
                obj.save(update_fields=form.changed_data)
            else:
                obj.save(force_insert=True)
            done = "warehouse.updated" if change else "warehouse.created"
            told = {"warehouse_id": obj.pk, "name": obj.name, "is_default": obj.is_default}
            record(done, by=by, area="inventory", supplier=obj.supplier, data=told)


class OverpromisedFilter(admin.SimpleListFilter):
    """Rows of which more is reserved than is there, from their own small index."""

    title = "promised beyond the stock"
    parameter_name = "overpromised"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Yes")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[StockLevel]) -> QuerySet[StockLevel]:
        return queryset.filter(overpromised=True) if self.value() == "yes" else queryset


@admin.register(StockLevel)
class StockLevelAdmin(LongList[StockLevel]):
    """What is on hand can be corrected; what is reserved follows from orders alone."""

    list_display = ("sku", "warehouse", "on_hand", "reserved", "overpromised", "counted_at", "updated_at")
    list_filter = (OverpromisedFilter, "warehouse")
    list_select_related = ("variant", "warehouse")
    search_help_text = "The beginning of a sku, or a whole UPC."
    fields = ("variant", "warehouse", "on_hand", "reserved", "counted_at", "updated_at")
    readonly_fields = ("variant", "warehouse", "reserved", "counted_at", "updated_at")

    @admin.display(description="sku")
    def sku(self, level: StockLevel) -> str:
        return level.variant.sku

    def found(self, term: str) -> Q:
        found = Q(variant__sku__startswith=term)
        return found | Q(variant__upc=term) if term.isdecimal() and len(term) == 12 else found

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: StockLevel | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: StockLevel, form: ModelForm[StockLevel], change: bool
    ) -> None:
        by = Actor.of_user(request.user)  # type: ignore[arg-type]  # the admin lets nobody else in
        StockLevel.objects.get(pk=obj.pk).count(form.cleaned_data["on_hand"], by=by)

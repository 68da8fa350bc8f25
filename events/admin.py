"""What happened, for operators: to be read, searched, and never rewritten."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.admin_base import ReadOnlyAdmin, as_id
from accounts.scopes import Scope
from events.models import ACCOUNTS, Event
from fastdb.beginnings import begins


class AreaFilter(admin.SimpleListFilter):
    """By the scope that covers it, or the operators' own. The choices are known: no rows are read."""

    title = "area"
    parameter_name = "area"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        areas = [*dict.fromkeys(scope.value.partition(":")[0] for scope in Scope), ACCOUNTS]
        return [(area, area) for area in areas]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(area=self.value()) if self.value() else queryset


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin[Event]):
    """What happened, newest first."""

    list_display = (
        "number",
        "type",
        "occurred_at",
        "supplier",
        "retailer",
        "order_id",
        "fulfillment_id",
        "import_id",
        "actor",
    )
    list_display_links = ("number", "type")
    list_filter = (AreaFilter, "supplier", "retailer")
    list_select_related = ("supplier", "retailer")
    search_help_text = "An order's number, an import's number, or how a request_id begins."
    list_per_page = 100

    def search_condition(self, term: str) -> Q:
        of_request = ~Q(request_id="") & begins("request_id", term)
        return Q(order_id=as_id(term)) | Q(import_id=as_id(term)) | of_request

"""Admin pages of variants. The search by sku or article number stays fast for any catalog size."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.forms import ModelForm
from django.http import HttpRequest
from django.template.loader import render_to_string

from accounts.operating.admin_actions import ActingFormAdmin
from accounts.operating.admin_base import LongList, operator_of
from accounts.operating.day_filter import DaysFilter
from api.prefix_search import begins
from catalog.admin_actions import ACTIONS
from catalog.forms import VariantForm
from catalog.models import Variant, VariantChange

MOST_CHANGES = 50
SECTIONS = (
    ("", ("supplier", "sku", "title", "model", "listed")),
    (
        "Prices",
        (
            *("retail_price", "wholesale_price", "special_sale_price"),
            *("special_sale_price_start", "special_sale_price_end"),
        ),
    ),
)
ARTICLE_NUMBERS = {8: ("ean",), 12: ("upc",), 13: ("ean",), 14: ("gtin",)}


@admin.register(Variant)
class VariantAdmin(ActingFormAdmin[Variant], LongList[Variant]):
    """The pages of variants. They save like the API, with an event. Deleting is off: orders name variants."""

    form = VariantForm
    list_display = ("sku", "title", "supplier", "model", "retail_price", "wholesale_price", "listed")
    list_filter = ("listed", ("created_at", DaysFilter), "supplier")
    more_columns = ("id", "upc", "ean", "id_in_source", "weight", "created_at", "updated_at")
    list_select_related = ("supplier",)
    search_help_text = "The beginning of a sku, or a whole UPC, EAN or GTIN."
    raw_id_fields = ("supplier",)
    readonly_fields = ("created_at", "updated_at")
    record_actions = ACTIONS
    acts_with = ("supplier",)

    def search_condition(self, term: str) -> Q:
        condition = begins("sku", term)
        if term.isdecimal():
            for name in ARTICLE_NUMBERS.get(len(term), ()):
                condition |= Q(**{name: term})
        return condition

    def get_readonly_fields(self, request: HttpRequest, obj: Variant | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None else (*fields, "supplier", "history")

    def get_fieldsets(self, request: HttpRequest, obj: Variant | None = None) -> Any:
        """Show prices and the panels about stock first, then the history, then all other fields."""
        remaining = [*self.get_fields(request, obj)]
        sections = []
        panels = self.panels(request, obj)
        for title, names in (*SECTIONS, ("Stock", panels), ("History", ("history",))):
            fields = [name for name in names if name in remaining]
            remaining = [name for name in remaining if name not in fields]
            if fields:
                sections.append((title, {"fields": fields}))
        return [*sections, ("Content", {"fields": remaining})]

    @admin.display(description="changes")
    def history(self, variant: Variant) -> str:
        changes = VariantChange.objects.filter(variant_id=variant.pk).order_by("-id")[: MOST_CHANGES + 1]
        rows = [(change, _old_and_new(change)) for change in changes]
        context = {"changes": rows[:MOST_CHANGES], "more": len(rows) > MOST_CHANGES, "variant": variant}
        return render_to_string("admin/catalog/history.html", context)

    def has_delete_permission(self, request: HttpRequest, obj: Variant | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Variant, form: ModelForm[Variant], change: bool) -> None:
        by = operator_of(request)
        if change:
            values = {name: form.cleaned_data[name] for name in form.changed_data}
            Variant.objects.get(pk=obj.pk).change(values, by=by)
        else:
            values = {name: value for name, value in form.cleaned_data.items() if name != "supplier"}
            obj.pk = Variant.add(obj.supplier, values, by=by).pk


def _old_and_new(change: VariantChange) -> list[tuple[str, str, str]]:
    """Return each changed field with its old and new value; an empty value is shown as a dash."""
    return [
        (name.replace("_", " "), *(_text(values.get(side)) for side in ("from", "to")))
        for name, values in change.changed.items()
    ]


def _text(value: object) -> str:
    return {None: "–", "": "–", True: "yes", False: "no", "true": "yes", "false": "no"}.get(
        value if isinstance(value, str | bool | None) else str(value), str(value)
    )

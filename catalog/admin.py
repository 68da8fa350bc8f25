"""Admin pages of variants. Searches by sku or article number use an index."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from accounts.operating.admin_actions import ActingFormAdmin
from accounts.operating.admin_base import LongList, operator_of
from accounts.operating.day_filter import DaysFilter
from api.errors import ApiError
from api.prefix_search import begins
from catalog.admin_actions import ACTIONS
from catalog.change_texts import old_and_new
from catalog.forms import VariantForm
from catalog.models import Variant, VariantChange

MOST_CHANGES = 50
PRICES = (
    ("retail_price", "wholesale_price", "special_sale_price"),
    ("special_sale_price_start", "special_sale_price_end"),
)
PRODUCT = ("supplier", "sku", "title", "model", "upc", "ean", "gtin", "listed")
BESIDE = ("supplier", "created_at", "updated_at")
"""Fields of a stored variant that are shown beside the form."""
MORE = {"classes": ("collapse",)}
CODES = (("UPC", "upc"), ("EAN", "ean"), ("GTIN", "gtin"))
ARTICLE_NUMBERS = {8: ("ean",), 12: ("upc",), 13: ("ean",), 14: ("gtin",)}


@admin.register(Variant)
class VariantAdmin(ActingFormAdmin[Variant], LongList[Variant]):
    """The pages of variants. A saved change has an event, as a change through the API has.

    Variants cannot be deleted, because orders refer to them.
    """

    form = VariantForm
    change_form_template = "admin/catalog/variant.html"
    list_display = ("sku", "title", "supplier", "retail_price", "wholesale_price", "free_stock", "listed")
    list_filter = ("listed", ("created_at", DaysFilter), "supplier")
    more_columns = ("id", "model", "upc", "ean", "id_in_source", "weight", "created_at", "updated_at")
    list_select_related = ("supplier",)
    search_help_text = "The beginning of a sku, or a whole UPC, EAN or GTIN."
    autocomplete_fields = ("supplier",)
    readonly_fields = ("created_at", "updated_at")
    record_actions = ACTIONS
    acts_with = ("supplier",)

    def with_columns(self, variants: QuerySet[Variant]) -> QuerySet[Variant]:
        """Read the stock of all shown rows with one query. `backoffice.lists` calls this method."""
        return variants.prefetch_related("stock")

    @admin.display(description="stock")
    def free_stock(self, variant: Variant) -> int:
        """Return the units that are not reserved, in all warehouses."""
        return sum(max(level.on_hand - level.reserved, 0) for level in variant.stock.all())

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
        """Return the page's sections. For a stored variant, sections that rarely change are folded."""
        prices = {name for line in PRICES for name in line}
        others = [name for name in self.get_fields(request, obj) if name not in prices]
        product = [name for name in PRODUCT if obj is None or name not in BESIDE]
        if obj is None:
            content = [name for name in others if name not in product]
            return [
                ("Product", {"fields": product}),
                ("Prices", {"fields": PRICES}),
                ("Content", {"fields": content}),
            ]
        panels = self.panels(request, obj)
        shown = {*product, *panels, *BESIDE, "history"}
        return [
            ("Prices", {"fields": PRICES[:1]}),
            ("Stock", {"fields": panels}),
            ("History", {"fields": ("history",)}),
            ("Sale period", {"fields": PRICES[1:], **MORE}),
            ("Product", {"fields": product, **MORE}),
            ("Content", {"fields": [name for name in others if name not in shown], **MORE}),
        ]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ApiError:
            # Another request took the sku, or changed the currency, after the form was checked. Check the
            # form again: it now shows the error, and keeps the typed text.
            return super().changeform_view(request, object_id, form_url, extra_context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        response = super().change_view(request, object_id, form_url, extra_context)
        response.shows_pictures = True  # type: ignore[attr-defined]  # PagePolicyMiddleware reads it
        return response

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, object],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Variant | None = None,
    ) -> HttpResponse:
        if obj is not None:
            context["picture"] = obj.picture
            context["codes"] = [(label, getattr(obj, name)) for label, name in CODES if getattr(obj, name)]
        return super().render_change_form(request, context, add, change, form_url, obj)

    @admin.display(description="changes")
    def history(self, variant: Variant) -> str:
        changes = VariantChange.objects.filter(variant_id=variant.pk).order_by("-id")[: MOST_CHANGES + 1]
        rows = [(change, old_and_new(change)) for change in changes]
        context = {"changes": rows[:MOST_CHANGES], "more": len(rows) > MOST_CHANGES, "variant": variant}
        return render_to_string("admin/catalog/history.html", context)

    def has_delete_permission(self, request: HttpRequest, obj: Variant | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Variant, form: ModelForm[Variant], change: bool) -> None:
        by = operator_of(request)
        if change:
            assert isinstance(form, VariantForm)
            form.apply(by=by)
        else:
            values = {name: value for name, value in form.cleaned_data.items() if name != "supplier"}
            obj.pk = Variant.add(obj.supplier, values, by=by).pk

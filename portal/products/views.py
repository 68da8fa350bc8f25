"""A supplier's pages of products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import Result
from accounts.operating.admin_actions import LEVELS, sent_form_id
from api.renderers import number
from catalog.models import Variant
from portal.acting import PortalActionPage
from portal.list_pages import MOMENT, ListColumn, PortalListPage
from portal.listing import MOST_ROWS, Tabs
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalRecordPage
from portal.products.actions import ACTIONS
from portal.products.changes import product_changes
from portal.products.forms import ProductForm, ProductPageForm
from portal.products.selectors import (
    TABS,
    available,
    found_product,
    on_hand,
    products_of,
    rejected_lately,
    waiting_lines,
)
from portal.products.services import NOTHING, save_product

REJECTED = "rejected"
CELLS = "portal/products/cells"


@dataclass(frozen=True)
class ProductRow:
    """A product of the list, and its form. The form is None for members who may not change the product."""

    variant: Variant
    form: ProductForm | None


def _retail_price(variant: Variant) -> object:
    return number(variant.retail_price)


def _wholesale_price(variant: Variant) -> object:
    return number(variant.wholesale_price)


def _state(variant: Variant) -> str:
    return "listed" if variant.listed else "delisted"


COLUMNS = (
    ListColumn("sku", "SKU", attrgetter("sku"), f"{CELLS}/sku.html"),
    ListColumn("title", "Title", attrgetter("title"), f"{CELLS}/title.html"),
    ListColumn("retail_price", "Retail price", _retail_price, f"{CELLS}/retail_price.html"),
    ListColumn("wholesale_price", "Wholesale price", _wholesale_price, f"{CELLS}/wholesale_price.html"),
    ListColumn("available", "Available", available, f"{CELLS}/available.html", is_number=True),
    ListColumn("on_hand", "On hand", on_hand, is_number=True, is_usual=False),
    ListColumn("listed", "State", _state, f"{CELLS}/state.html"),
    ListColumn("model", "Model", attrgetter("model"), is_usual=False),
    ListColumn("upc", "UPC", attrgetter("upc"), is_usual=False),
    ListColumn("ean", "EAN", attrgetter("ean"), is_usual=False),
    ListColumn("gtin", "GTIN", attrgetter("gtin"), is_usual=False),
    ListColumn("updated_at", "Changed at", attrgetter("updated_at"), MOMENT, is_usual=False),
)


class ProductsPage(PortalListPage):
    """The list of products. Title and prices are edited in place, each product in its own transaction."""

    template = "portal/products/products.html"
    section = title = "Products"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    hint = "SKU, title, UPC, EAN or GTIN"
    columns = COLUMNS
    faulty: Mapping[int, ProductForm] = MappingProxyType({})
    """The forms with errors, by the id of the product. The forms keep the typed text."""

    def listed(self) -> QuerySet[Any]:
        return products_of(self.supplier)

    def tabs(self) -> Tabs:
        """Return the tabs. The condition of the last tab takes queries, so build it only for the open tab."""
        is_open = self.request.GET.get("tab") == REJECTED
        condition = rejected_lately(self.supplier) if is_open else Q()
        return {**TABS, REJECTED: ("Rejected lately", condition)}

    def search(self, term: str) -> Q:
        return found_product(term)

    def cells(self, record: Any) -> Any:
        form = self.faulty.get(record.pk) or (ProductForm(record) if self.may_change else None)
        return ProductRow(record, form), super().cells(record)[1]

    def context(self) -> dict[str, object]:
        """Return the context. Products with errors that the list no longer shows come first."""
        context = super().context()
        shown = {row.variant.pk for row, _ in context["rows"]}
        others = [form.instance for pk, form in self.faulty.items() if pk not in shown]
        rows = [*map(self.cells, others), *context["rows"]]
        return {**context, "rows": rows, "faulty": len(self.faulty), "form_id": uuid4()}

    def change(self, request: HttpRequest) -> HttpResponse:
        """Save the changed products one by one. Products with errors are not saved; their forms stay open."""
        ids = ProductForm.sent_ids(request.POST)
        if len(ids) > MOST_ROWS:
            messages.error(request, f"There are {len(ids)} rows. Save at most {MOST_ROWS} at a time.")
            return HttpResponseRedirect(request.get_full_path())
        variants = self.listed().filter(pk__in=ids)
        forms = [ProductForm(variant, request.POST) for variant in variants]
        changed = [form for form in forms if form.has_changed()]
        form_id = sent_form_id(request.POST.dict())
        results = [save_product(form, by=self.actor, form_id=form_id) for form in changed]
        saved = sum(result is Result.DONE for result, _ in results)
        self.faulty = {form.instance.pk: form for form in changed if form.errors}
        if saved:
            messages.success(request, f"{saved} product{pluralize(saved)} changed.")
        if self.faulty:
            return self.render(self.context())
        if not saved:
            messages.warning(request, results[0][1] if results else NOTHING)
        return HttpResponseRedirect(request.get_full_path())


class ProductPage(PortalRecordPage):
    """One product: its picture, its prices, its stock by warehouse, and the orders that wait for it."""

    template = "portal/products/product.html"
    section = "Products"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    record: Variant
    form: ProductPageForm | None = None

    def of_party(self) -> QuerySet[Any]:
        return products_of(self.supplier).prefetch_related("stock__warehouse")

    def context(self) -> dict[str, object]:
        variant = self.record
        expected = {each.warehouse_id: each.expected_at for each in variant.expected_stock.all()}
        return {
            "title": variant.title,
            "product": variant,
            "picture": variant.picture,
            "form": (self.form or ProductPageForm(variant)) if self.may_change else None,
            "levels": [(level, expected.get(level.warehouse_id)) for level in variant.stock.all()],
            "available": available(variant),
            "waiting": waiting_lines(self.supplier, variant),
            "changes": product_changes(self.supplier, variant),
            "form_id": uuid4(),
            "possible": [each for each in ACTIONS if each.is_possible(variant)] if self.may_change else [],
        }

    def render(self, context: dict[str, object]) -> TemplateResponse:
        response = super().render(context)
        response.shows_pictures = True  # type: ignore[attr-defined]  # PagePolicyMiddleware reads it
        return response

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        self.form = ProductPageForm(self.of_party().get(pk=self.record.pk), request.POST)
        form_id = sent_form_id(request.POST.dict())
        result, message = save_product(self.form, by=self.actor, form_id=form_id)
        if result is Result.REFUSED:
            return self.render(self.context())
        messages.add_message(request, LEVELS[result], message)
        return HttpResponseRedirect(reverse("portal:product", args=[self.record.pk]))


class ProductActionPage(PortalActionPage):
    section = "Products"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    actions = ACTIONS

    def of_party(self) -> QuerySet[Any]:
        return products_of(self.supplier)

    def back(self) -> str:
        return reverse("portal:product", args=[self.record.pk])

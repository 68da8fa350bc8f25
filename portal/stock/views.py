"""The page with the grid of a supplier's stock in one warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from accounts.member_roles import Right
from accounts.models import Result
from accounts.operating.admin_actions import LEVELS, sent_form_id
from catalog.models import Variant
from inventory.models import Warehouse
from portal.list_pages import MOMENT, ListColumn, PortalListPage
from portal.listing import MOST_ROWS, Tabs
from portal.navigation import ONLY_SUPPLIERS
from portal.products.selectors import available, found_product
from portal.stock.forms import StockRowForm
from portal.stock.selectors import chosen_warehouse, expected_on, level_of, stock_tabs, stocked_products
from portal.stock.services import StockEntry, save_stock

CELLS = "portal/stock/cells"


@dataclass(frozen=True)
class StockRow:
    """A product of the grid, and its form. The form is None for members who may not change the count."""

    variant: Variant
    form: StockRowForm | None


def _on_hand(variant: Variant) -> int | None:
    level = level_of(variant)
    return level.on_hand if level else None


def _reserved(variant: Variant) -> int:
    level = level_of(variant)
    return level.reserved if level else 0


def _counted_at(variant: Variant) -> object:
    level = level_of(variant)
    return level.counted_at if level else None


class StockPage(PortalListPage):
    """The stock of one warehouse. Counts and restock dates of several rows are saved at once."""

    template = "portal/stock/stock.html"
    section = title = "Stock"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    hint = "SKU, title, UPC, EAN or GTIN"
    kept = ("warehouse",)
    columns = (
        ListColumn("sku", "SKU", attrgetter("sku"), "portal/products/cells/sku.html"),
        ListColumn("title", "Title", attrgetter("title")),
        ListColumn("on_hand", "On hand", _on_hand, f"{CELLS}/on_hand.html", is_number=True),
        ListColumn("reserved", "Reserved", _reserved, is_number=True),
        ListColumn("available", "Available", available, is_number=True),
        ListColumn("expected_at", "Expected on", expected_on, f"{CELLS}/expected_at.html"),
        ListColumn("counted_at", "Counted at", _counted_at, MOMENT),
        ListColumn("upc", "UPC", attrgetter("upc"), is_usual=False),
        ListColumn("ean", "EAN", attrgetter("ean"), is_usual=False),
    )
    faulty: Mapping[int, StockRowForm] = MappingProxyType({})
    """The forms with errors, by the id of the product. The forms keep the typed text."""

    @cached_property
    def warehouses(self) -> tuple[Warehouse | None, list[Warehouse]]:
        return chosen_warehouse(self.supplier, self.request.GET.get("warehouse", ""))

    def listed(self) -> QuerySet[Any]:
        return stocked_products(self.supplier, self.warehouses[0])

    def tabs(self) -> Tabs:
        return stock_tabs(self.warehouses[0])

    def search(self, term: str) -> Q:
        return found_product(term)

    def cells(self, record: Any) -> Any:
        may_count = self.may_change and self.warehouses[0] is not None
        form = self.faulty.get(record.pk) or (StockRowForm(record) if may_count else None)
        return StockRow(record, form), super().cells(record)[1]

    def context(self) -> dict[str, object]:
        """Return the context. Products with errors that the list no longer shows come first."""
        context, (warehouse, warehouses) = super().context(), self.warehouses
        shown = {row.variant.pk for row, _ in context["rows"]}
        others = [form.variant for pk, form in self.faulty.items() if pk not in shown]
        links = [
            {"label": each.name, "url": f"?warehouse={each.pk}", "is_current": each == warehouse}
            for each in warehouses
        ]
        return {
            **context,
            "rows": [*map(self.cells, others), *context["rows"]],
            "faulty": len(self.faulty),
            "warehouse": warehouse,
            "warehouse_tabs": links if len(links) > 1 else [],
            "form_url": self._form_url(),
            "form_id": uuid4(),
        }

    def _form_url(self) -> str:
        """Return this page's address with its warehouse, because the default warehouse may change."""
        warehouse, query = self.warehouses[0], self.request.GET.copy()
        if warehouse:
            query["warehouse"] = str(warehouse.pk)
        return f"?{query.urlencode()}"

    def change(self, request: HttpRequest) -> HttpResponse:
        """Save the valid changed rows in one transaction. The forms of faulty rows stay open."""
        warehouse, _ = self.warehouses
        if warehouse is None:
            messages.error(request, "You have no warehouse yet. Ask an operator of the service to add one.")
            return HttpResponseRedirect(request.get_full_path())
        ids = StockRowForm.sent_ids(request.POST)
        if len(ids) > MOST_ROWS:
            messages.error(request, f"There are {len(ids)} rows. Save at most {MOST_ROWS} at a time.")
            return HttpResponseRedirect(request.get_full_path())
        variants = self.listed().filter(pk__in=ids)
        changed = [form for each in variants if (form := StockRowForm(each, request.POST)).has_changed()]
        self.faulty = {form.variant.pk: form for form in changed if not form.is_valid()}
        entries = [_entry(form) for form in changed if not form.errors]
        if entries:
            form_id = sent_form_id(request.POST.dict())
            result, message = save_stock(warehouse, entries, by=self.actor, form_id=form_id)
            messages.add_message(request, LEVELS.get(result, messages.ERROR), message)
            if result is Result.REFUSED:
                self.faulty = {form.variant.pk: form for form in changed}
        if self.faulty:
            return self.render(self.context())
        if not entries:
            messages.warning(request, "Nothing was changed: the list has no new values.")
        return HttpResponseRedirect(request.get_full_path())


def _entry(form: StockRowForm) -> StockEntry:
    changed, data = form.changed_data, form.cleaned_data
    return StockEntry(
        form.variant.pk,
        data["on_hand"] if "on_hand" in changed else None,
        "expected_at" in changed,
        data.get("expected_at"),
    )

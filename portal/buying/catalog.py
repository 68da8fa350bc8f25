"""A retailer's catalog: the products that the retailer can pull, with prices and available units."""

from __future__ import annotations

from datetime import date
from operator import attrgetter
from typing import Any

from django.db.models import Q, QuerySet
from django.template.response import TemplateResponse

from accounts.member_roles import Right
from accounts.models import Partnership, Retailer, ServiceType
from api.ids import as_id
from api.renderers import number
from catalog.models import Variant, VariantQuerySet
from portal.list_pages import ListColumn, PortalListPage
from portal.listing import Tabs
from portal.navigation import ONLY_RETAILERS
from portal.pages import PortalRecordPage
from portal.products.selectors import AVAILABLE, available, found_product

CELLS = "portal/buying/cells"
PRICE = f"{CELLS}/price.html"
"""The template of prices. It shows cents; a file has the plain number."""
SUPPLIER, CHANNEL = "supplier", "channel"
MOST_SIBLINGS = 100
TABS: Tabs = {
    "all": ("All", Q()),
    "available": ("Available", AVAILABLE),
    "unavailable": ("Not available", ~AVAILABLE),
}


def partners_of(retailer: Retailer, channel: str = "") -> QuerySet[Partnership]:
    """Return the trading partnerships that the pull reads, for one channel or all channels."""
    trading = retailer.partnerships.trading()
    return trading.filter(service_types__contains=[channel] if channel else [], service_types__len__gt=0)


def catalog_of(retailer: Retailer, channel: str = "", supplier_id: int = 0) -> VariantQuerySet:
    """Return the products that the retailer may sell, with the stock that pages show."""
    suppliers = partners_of(retailer, channel).values("supplier_id")
    shown = Variant.objects.filter(supplier__in=suppliers, listed=True)
    if supplier_id:
        shown = shown.filter(supplier=supplier_id)
    return shown.select_related("supplier").prefetch_related("stock", "expected_stock")


def expected_at(variant: Variant) -> date | None:
    """Return the earliest day on which a warehouse expects stock."""
    return min((each.expected_at for each in variant.expected_stock.all() if each.expected_at), default=None)


def _price(name: str) -> Any:
    return lambda variant: number(getattr(variant, name))


COLUMNS = (
    ListColumn("sku", "SKU", attrgetter("sku"), f"{CELLS}/sku.html"),
    ListColumn("title", "Title", attrgetter("title"), f"{CELLS}/name.html"),
    ListColumn("supplier", "Supplier", attrgetter("supplier.name")),
    ListColumn("wholesale_price", "Your price", _price("wholesale_price"), PRICE, is_number=True),
    ListColumn("retail_price", "Retail price", _price("retail_price"), PRICE, is_number=True),
    ListColumn("currency", "Currency", attrgetter("supplier.currency")),
    ListColumn("available", "Available", available, f"{CELLS}/count.html", is_number=True),
    ListColumn("expected", "Expected", expected_at),
    ListColumn("model", "Model", attrgetter("model"), is_usual=False),
    ListColumn(
        "sale_price", "Sale price", _price("special_sale_price"), PRICE, is_number=True, is_usual=False
    ),
    ListColumn("upc", "UPC", attrgetter("upc"), is_usual=False),
    ListColumn("ean", "EAN", attrgetter("ean"), is_usual=False),
    ListColumn("gtin", "GTIN", attrgetter("gtin"), is_usual=False),
    ListColumn("id", "Variant ID", attrgetter("pk"), f"{CELLS}/count.html", is_number=True, is_usual=False),
)


class CatalogPage(PortalListPage):
    """The list of the catalog: filters by supplier and channel, a search, columns and files."""

    template = "portal/buying/catalog.html"
    section = title = "Catalog"
    sides = ONLY_RETAILERS
    right = Right.CATALOG
    hint = "SKU, title, UPC, EAN or GTIN"
    columns = COLUMNS
    kept = (SUPPLIER, CHANNEL)

    @property
    def channel(self) -> str:
        asked = self.request.GET.get(CHANNEL, "")
        return asked if asked in ServiceType.values else ""

    def listed(self) -> QuerySet[Any]:
        return catalog_of(self.retailer, self.channel, as_id(self.request.GET.get(SUPPLIER, "")))

    def tabs(self) -> Tabs:
        return TABS

    def search(self, term: str) -> Q:
        return found_product(term)

    def context(self) -> dict[str, object]:
        partners = partners_of(self.retailer).order_by("supplier__name").select_related("supplier")
        narrowing = (*self.kept, "before")
        beside = {name: value for name, value in self.request.GET.items() if name not in narrowing}
        return {
            **super().context(),
            "partners": [each.supplier for each in partners],
            "chosen_supplier": as_id(self.request.GET.get(SUPPLIER, "")),
            "channels": ServiceType.choices,
            "channel": self.channel,
            "kept_beside_filters": beside,
        }


class CatalogProductPage(PortalRecordPage):
    """One product of the catalog: picture, prices, availability, and the other products of its model."""

    template = "portal/buying/product.html"
    section = "Catalog"
    sides = ONLY_RETAILERS
    right = Right.CATALOG
    record: Variant

    def of_party(self) -> QuerySet[Any]:
        return catalog_of(self.retailer)

    def context(self) -> dict[str, object]:
        variant = self.record
        urls = (url.strip() for url in variant.images.split("|"))
        siblings = self.of_party().filter(supplier=variant.supplier_id, group=variant.group)
        others = siblings.exclude(pk=variant.pk)
        return {
            "title": variant.title,
            "product": variant,
            "partnership": self.retailer.partnerships.get(supplier=variant.supplier_id),
            "picture": next((url for url in urls if url.startswith("https://")), ""),
            "available": available(variant),
            "expected": expected_at(variant),
            "siblings": [(each, available(each)) for each in others.order_by("pk")[:MOST_SIBLINGS]],
        }

    def render(self, context: dict[str, object]) -> TemplateResponse:
        response = super().render(context)
        response.shows_pictures = True  # type: ignore[attr-defined]  # PagePolicyMiddleware reads it
        return response

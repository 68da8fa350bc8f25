"""Queries of a supplier's products for its pages. The portal calls a variant a product."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Left
from django.utils import timezone

from accounts.models import Supplier
from api.inside_search import LEAST, contains
from api.prefix_search import begins, begins_with_digits
from catalog.models import TITLE_FOUND_BY, Variant, VariantQuerySet
from events.models import Event
from fulfillments.models import Fulfillment, FulfillmentLine, next_limit
from fulfillments.states import REJECT_OUT_OF_STOCK
from inventory.models import StockLevel
from portal.late import TO_ANSWER
from portal.listing import Tabs

LATELY = timedelta(days=7)
MOST_REJECTED = 500
MOST_WAITING = 50
ARTICLE_NUMBERS = ("upc", "ean", "gtin")


def is_available_in(levels: QuerySet[StockLevel]) -> Q:
    """Return the condition for variants with available units in one of these stock levels.

    Subtract instead of adding: the reserved units and the safety stock together could overflow the column.
    """
    free = levels.filter(variant=OuterRef("pk")).annotate(free=F("on_hand") - F("reserved"))
    return Q(Exists(free.filter(free__gt=OuterRef("supplier__safety_stock"))))


AVAILABLE = is_available_in(StockLevel.objects.all())

TABS: Tabs = {
    "all": ("All", Q()),
    "listed": ("Listed", Q(listed=True)),
    "delisted": ("Delisted", Q(listed=False)),
    "stock": ("Available", AVAILABLE),
    "empty": ("Not available", ~AVAILABLE),
}
"""The tabs of the list: the label and the condition of each. The page adds `rejected_lately`."""


def products_of(supplier: Supplier) -> VariantQuerySet:
    """Return the supplier's products with the stock that pages show."""
    own = Variant.objects.for_supplier(supplier).select_related("supplier")
    return own.prefetch_related("stock", "expected_stock")


def found_product(term: str) -> Q:
    """Return the condition that finds products by part of a sku or title, or the start of an article number.

    A term of one or two characters is too short for the trigram index. It finds only beginnings of texts.
    """
    title, text = Left("title", TITLE_FOUND_BY), term[:TITLE_FOUND_BY]
    search = contains if len(term) >= LEAST else begins
    condition = search("sku", term) | search(title, text)
    if term.isascii() and term.isdecimal():
        for name in ARTICLE_NUMBERS:
            condition |= begins_with_digits(name, term)
    return condition


def rejected_lately(supplier: Supplier) -> Q:
    """Return the condition for products that were rejected as out of stock lately. Takes two queries."""
    events = Event.objects.filter(supplier=supplier, type=REJECT_OUT_OF_STOCK.event)
    since = events.filter(occurred_at__gte=timezone.now() - LATELY).order_by("-number")
    items = [item for data in since.values_list("data", flat=True)[:MOST_REJECTED] for item in data["items"]]
    lines = FulfillmentLine.objects.filter(pk__in=[item["line"] for item in items])
    return Q(pk__in=[*lines.values_list("variant_id", flat=True)])


def waiting_lines(supplier: Supplier, variant: Variant) -> list[FulfillmentLine]:
    """Return the lines of the supplier's open orders that wait for this product, most urgent first."""
    work = Fulfillment.objects.for_supplier(supplier).not_held().filter(state__in=TO_ANSWER)
    lines = FulfillmentLine.objects.filter(variant=variant, fulfillment__in=work)
    waiting = lines.filter(quantity__gt=F("shipped") + F("rejected") + F("canceled"))
    of_part = ("order__retailer", "warehouse", "capture")
    related = waiting.select_related(*(f"fulfillment__{name}" for name in of_part))
    return list(related.order_by(next_limit("fulfillment__"), "pk")[:MOST_WAITING])


def on_hand(variant: Variant) -> int:
    return sum(level.on_hand for level in variant.stock.all())


def available(variant: Variant) -> int:
    """Return the units that new orders can reserve, computed as in `inventory.serializers`."""
    safety = variant.supplier.safety_stock
    return sum(max(level.on_hand - level.reserved - safety, 0) for level in variant.stock.all())

"""The request body of a variant (interface 2.3, contract 5 and 10), and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from operator import attrgetter
from typing import Any, ClassVar, TypedDict, cast

from rest_framework import serializers

from api.bodies import Body
from api.fields import Exact, Flag, Moment, Optional, Text
from api.renderers import iso, number
from catalog.fields import ArticleNumber, Bullets, Images, Option, Property
from catalog.gtin import EAN, GTIN, UPC, twin_of
from catalog.models import Variant

LONG = 100_000
SALE = ("special_sale_price_start", "special_sale_price_end")


class VariantBody(Body):
    """A whole variant. An absent field becomes empty, except `listed`, which stays unchanged."""

    often_meant: ClassVar[Mapping[str, str]] = {"price": "retail_price", "cost": "wholesale_price"}

    sku = Text(max_length=100)
    title = Text(max_length=500)
    retail_price = Exact()
    model = Optional(max_length=100)
    wholesale_price = Exact(required=False, allow_null=True)
    special_sale_price = Exact(required=False, allow_null=True)
    special_sale_price_start = Moment(required=False, allow_null=True)
    special_sale_price_end = Moment(required=False, allow_null=True)
    description = Optional(max_length=LONG)
    description_extra = Optional(max_length=LONG)
    description_bullets = Bullets()
    upc = ArticleNumber(UPC)
    ean = ArticleNumber(EAN)
    gtin = ArticleNumber(GTIN)
    id_in_source = Optional(max_length=100)
    weight = Exact(required=False, allow_null=True)
    images = Images()
    options = Option(many=True, required=False)
    properties = Property(many=True, required=False)
    listed = Flag(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, object]:
        _spread_gtin(attrs)
        stored = self.instance if self.partial else None
        _agrees_with_gtin(attrs, getattr(stored, "gtin", ""))
        start, end = (attrs.get(name, getattr(stored, name, None)) for name in SALE)
        # A stored sale may end before its start: files of earlier versions could leave it so.
        if {*SALE} & attrs.keys() and start and end and end < start:
            raise serializers.ValidationError({"special_sale_price_end": "Must not be before its start."})
        return attrs


def _agrees_with_gtin(attrs: dict[str, object], stored: str) -> None:
    """Refuse a UPC or EAN that contradicts the variant's stored GTIN."""
    name = twin_of(stored)
    if name and "gtin" not in attrs and attrs.get(name) and attrs[name] != stored:
        raise serializers.ValidationError({name: f"Contradicts the gtin {stored}. Change both."})


def _spread_gtin(attrs: dict[str, Any]) -> None:
    """Fill in the UPC or EAN that equals the GTIN. Refuse a contradicting UPC or EAN."""
    gtin = attrs.get("gtin") or ""
    name = twin_of(gtin)
    if name is None:
        return
    if attrs.get(name) and attrs[name] != gtin:
        raise serializers.ValidationError({"gtin": f"Contradicts the {name} {attrs[name]}."})
    attrs[name] = gtin


_UNSAVED = Variant()
EMPTY: dict[str, object] = {
    name: getattr(_UNSAVED, name)
    for name, field in VariantBody().fields.items()
    if not field.required and name != "listed"
}
"""The values of fields that a whole body leaves out: the model's defaults."""


class OptionJson(TypedDict):
    type: str
    value: str


class PropertyJson(TypedDict):
    name: str
    value: str


class VariantJson(TypedDict):
    """A variant (interface 2.3) with its id. Times are ISO 8601, UTC."""

    id: int
    supplier_id: int
    sku: str
    model: str
    title: str
    description: str
    description_extra: str
    description_bullets: list[str]
    upc: str
    ean: str
    gtin: str
    id_in_source: str
    weight: Decimal | None
    images: list[str]
    retail_price: Decimal
    wholesale_price: Decimal | None
    special_sale_price: Decimal | None
    special_sale_price_start: str | None
    special_sale_price_end: str | None
    options: list[OptionJson]
    properties: list[PropertyJson]
    listed: bool
    expected_at: str | None
    created_at: str
    updated_at: str


def _split(images: str) -> list[str]:
    return images.split("|") if images else []


# The conversions of stored values to JSON, by the kind of the model field. Other kinds need no conversion.
CONVERSIONS: dict[str, Callable[[Any], Any]] = {"DecimalField": number, "DateTimeField": iso}


def _conversion(name: str) -> Callable[[Any], Any] | None:
    if name == "images":
        return _split
    return CONVERSIONS.get(Variant._meta.get_field(name).get_internal_type())


READERS = tuple(
    (name, attrgetter(name), _conversion(name))
    for name in VariantJson.__annotations__
    if name != "expected_at"
)
"""Each field of `VariantJson` with the getter and the conversion of its value."""


def variant_json(variant: Variant) -> VariantJson:
    values = {name: convert(get(variant)) if convert else get(variant) for name, get, convert in READERS}
    days = [each.expected_at for each in variant.expected_stock.all() if each.expected_at]
    values["expected_at"] = min(days).isoformat() if days else None
    return cast(VariantJson, values)

"""The request body of a variant (interface 2.3, contract 5 and 10), and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, TypedDict

from rest_framework import serializers

from api.bodies import Body
from api.fields import Exact, Flag, Moment, Optional, Text
from api.renderers import iso, number
from catalog.fields import ArticleNumber, Bullets, Images, Option, Property
from catalog.gtin import EAN, GTIN, UPC
from catalog.models import Variant

LONG = 100_000


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

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        _spread_gtin(attrs)
        stored = self.instance if self.partial else None
        _agrees_with_gtin(attrs, getattr(stored, "gtin", ""))
        start, end = (
            attrs.get(name, getattr(stored, name, None))
            for name in ("special_sale_price_start", "special_sale_price_end")
        )
        if start and end and end < start:
            raise serializers.ValidationError({"special_sale_price_end": "Must not be before its start."})
        return attrs


def _twin(gtin: str) -> str | None:
    """Return the field with the same number: 12 digits of a GTIN are a UPC, 8 or 13 digits an EAN."""
    return {12: "upc", 8: "ean", 13: "ean"}.get(len(gtin))


def _agrees_with_gtin(attrs: dict[str, Any], stored: str) -> None:
    """Refuse a UPC or EAN that contradicts the variant's stored GTIN."""
    name = _twin(stored)
    if name and "gtin" not in attrs and attrs.get(name) and attrs[name] != stored:
        raise serializers.ValidationError({name: f"Contradicts the gtin {stored}. Change both."})


def _spread_gtin(attrs: dict[str, Any]) -> None:
    """Fill in the UPC or EAN that equals the GTIN. Refuse a contradicting UPC or EAN."""
    gtin = attrs.get("gtin") or ""
    name = _twin(gtin)
    if name is None:
        return
    if attrs.get(name) and attrs[name] != gtin:
        raise serializers.ValidationError({"gtin": f"Contradicts the {name} {attrs[name]}."})
    attrs[name] = gtin


EMPTY: dict[str, Any] = {
    "model": "",
    "wholesale_price": None,
    "special_sale_price": None,
    "special_sale_price_start": None,
    "special_sale_price_end": None,
    "description": "",
    "description_extra": "",
    "description_bullets": [],
    "upc": "",
    "ean": "",
    "gtin": "",
    "id_in_source": "",
    "weight": None,
    "images": "",
    "options": [],
    "properties": [],
}
"""The values of fields that a whole body leaves out."""


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
    created_at: str
    updated_at: str


def variant_json(variant: Variant) -> VariantJson:
    return {
        "id": variant.pk,
        "supplier_id": variant.supplier_id,
        "sku": variant.sku,
        "model": variant.model,
        "title": variant.title,
        "description": variant.description,
        "description_extra": variant.description_extra,
        "description_bullets": variant.description_bullets,
        "upc": variant.upc,
        "ean": variant.ean,
        "gtin": variant.gtin,
        "id_in_source": variant.id_in_source,
        "weight": number(variant.weight),
        "images": variant.images.split("|") if variant.images else [],
        "retail_price": number(variant.retail_price),
        "wholesale_price": number(variant.wholesale_price),
        "special_sale_price": number(variant.special_sale_price),
        "special_sale_price_start": iso(variant.special_sale_price_start),
        "special_sale_price_end": iso(variant.special_sale_price_end),
        "options": variant.options,
        "properties": variant.properties,
        "listed": variant.listed,
        "created_at": iso(variant.created_at),
        "updated_at": iso(variant.updated_at),
    }

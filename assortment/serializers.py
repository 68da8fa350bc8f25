"""The JSON of a variant group in the answer of a pull (interface 2.4)."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TypedDict

from api.renderers import iso
from assortment.partners import Partner
from assortment.selectors import GroupRow
from catalog.fields import lines_of


class GroupJson(TypedDict):
    """The variants of one model of one supplier. `variants` has their ids; it is empty if the group is gone.

    Prices are in `currency`, which is null if the group is gone. Minimum and maximum are null if no variant
    has the price. Times are ISO 8601, UTC.
    """

    model: str
    supplier_id: int
    special_sale_price_start: str | None
    special_sale_price_end: str | None
    available_inventory: int
    expected_at: str | None
    retailers_count: int
    currency: str | None
    retail_price_min: Decimal | None
    retail_price_max: Decimal | None
    wholesale_price_min: Decimal | None
    wholesale_price_max: Decimal | None
    title: str
    description: str
    description_extra: str
    description_bullets: list[str]
    images: list[str]
    variants: list[int]


def label(key: str) -> str:
    """Return the model in a group's key, or the sku of a variant without model."""
    return key[2:]


def groups_json(rows: Iterable[GroupRow], partner: Partner) -> list[GroupJson]:
    """Return all groups in one call, because a call for each group costs 10 % of a pull's time."""
    return [
        {
            "model": label(row.key),
            "supplier_id": partner.supplier_id,
            "special_sale_price_start": iso(row.sale_start),
            "special_sale_price_end": iso(row.sale_end),
            "available_inventory": row.available,
            "expected_at": row.expected_at.isoformat() if row.expected_at else None,
            "retailers_count": partner.retailers_count,
            "currency": partner.currency,
            "retail_price_min": row.retail_min,
            "retail_price_max": row.retail_max,
            "wholesale_price_min": row.wholesale_min,
            "wholesale_price_max": row.wholesale_max,
            "title": row.title,
            "description": row.description,
            "description_extra": row.description_extra,
            "description_bullets": row.description_bullets or lines_of(row.description_extra),
            "images": list(dict.fromkeys(row.image_urls.split("|"))) if row.image_urls else [],
            "variants": row.variant_ids,
        }
        for row in rows
    ]


def gone_json(key: str, supplier_id: int) -> GroupJson:
    """Return the JSON of a group that is gone, without variants and prices."""
    return {
        "model": label(key),
        "supplier_id": supplier_id,
        "special_sale_price_start": None,
        "special_sale_price_end": None,
        "available_inventory": 0,
        "expected_at": None,
        "retailers_count": 0,
        "currency": None,
        "retail_price_min": None,
        "retail_price_max": None,
        "wholesale_price_min": None,
        "wholesale_price_max": None,
        "title": "",
        "description": "",
        "description_extra": "",
        "description_bullets": [],
        "images": [],
        "variants": [],
    }

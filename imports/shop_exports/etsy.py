"""Etsy's export of listings: a row per listing.

A listing with variations lists all of their values and skus in one row, without a price for each. Such rows
are skipped with a warning.
"""

from __future__ import annotations

from imports.shop_exports.export import ShopExport, column, columns

ETSY = ShopExport(
    id=6,
    name="etsy",
    title="Etsy, listings",
    signatures=(frozenset({"title", "description", "price", "currency_code", "quantity", "image1", "sku"}),),
    field_mapping=(
        column("SKU", "sku"),
        column("TITLE", "title"),
        column("DESCRIPTION", "description"),
        column("PRICE", "retail_price"),
        column("CURRENCY_CODE", "currency"),
        *columns([f"IMAGE{place}" for place in range(1, 11)], "images"),
        column("MATERIALS", "property.materials", split_by_character=","),
    ),
    rows={"only_rows": {"field": "VARIATION 1 TYPE", "values": [""]}},
)

"""The product export of Wix Stores: a row `Product`, and below it a row `Variant` for each of its variants.

Pictures are the names of files in Wix's media store, or URLs. A variant's price is its product's price with a
surcharge; variants with a surcharge are skipped with a warning, because two columns cannot be added up.
"""

from __future__ import annotations

from imports.shop_exports.export import ShopExport, column, options_named_by

PLACES = range(1, 7)
NAMES = [f"productOptionName{place}" for place in PLACES]
VALUES = [f"productOptionDescription{place}" for place in PLACES]

WIX = ShopExport(
    id=7,
    name="wix",
    title="Wix Stores, products",
    signatures=(
        frozenset({"handleid", "fieldtype", "name", "productimageurl", "sku", "price", "surcharge"}),
    ),
    field_mapping=(
        column("sku", "sku"),
        column("handleId", "model"),
        column("name", "title"),
        column("description", "description"),
        column("price", "retail_price"),
        column(
            "productImageUrl",
            "images",
            relative_urls="https://static.wixstatic.com/media",
            split_by_character=";",
        ),
        column("visible", "listed"),
        column("weight", "weight"),
        *options_named_by(list(zip(NAMES, VALUES, strict=True))),
        column("brand", "property.brand"),
    ),
    rows={
        "product_fields": ["handleId"],
        "repeat_fields": [
            "name",
            "description",
            "price",
            "productImageUrl",
            "visible",
            "weight",
            "brand",
            *NAMES,
        ],
        # Only the row `Product` of a product with variants has a value in this column.
        "group_rows": {"field": "productOptionType1", "values": ["drop_down", "color"]},
        "only_rows": {"field": "surcharge", "values": ["", "0", "0.0", "0.00"]},
        "sku_template": "{handleId}-" + "-".join(f"{{{name}}}" for name in VALUES[:3]),
    },
)

"""Shopify's product export: a product's first row has its texts, others its variants or a picture alone.

The names of the columns are English in every language of the shop; those of 2024 and later are the second
ones. Where a shop has several locations, the file has no quantities; these come by the inventory export.
"""

from __future__ import annotations

from imports.shop_exports.export import ShopExport, column, columns, options_named_by

HANDLES = ["Handle", "URL handle"]
LISTED = {"active": "true", "draft": "false", "archived": "false", "unlisted": "false"}

SHOPIFY = ShopExport(
    id=1,
    name="shopify",
    title="Shopify, products",
    signatures=(
        frozenset({"handle", "title", "option1 name", "option1 value", "variant price"}),
        frozenset({"url handle", "title", "option1 name", "option1 value", "price"}),
    ),
    field_mapping=(
        *columns(["Variant SKU", "SKU"], "sku"),
        *columns(HANDLES, "model"),
        column("Title", "title"),
        *columns(["Body (HTML)", "Description"], "description"),
        *columns(["Variant Price", "Price"], "retail_price"),
        *columns(["Variant Barcode", "Barcode"], "gtin"),
        column("Variant Grams", "weight", math_transformer="value / 1000"),
        column("Weight value (grams)", "weight", math_transformer="value / 1000"),
        # A variant's own picture comes first.
        *columns(["Variant Image", "Variant image URL"], "images"),
        *columns(["Image Src", "Product image URL", "Image source"], "images"),
        column("Status", "listed", values=LISTED),
        *columns(["Published", "Published on online store"], "listed"),
        *options_named_by([(f"Option{place} Name", f"Option{place} Value") for place in (1, 2, 3)]),
        column("Vendor", "property.vendor"),
        column("Type", "property.type"),
    ),
    rows={
        "product_fields": HANDLES,
        "repeat_fields": [
            *("Title", "Body (HTML)", "Description", "Vendor", "Type", "Status"),
            *("Published", "Published on online store"),
            *(f"Option{place} Name" for place in (1, 2, 3)),
        ],
        "picture_fields": ["Image Src", "Product image URL", "Image source"],
        "variant_fields": [
            *("Title", "Variant SKU", "SKU", "Variant Price", "Price", "Variant Barcode", "Barcode"),
            *(f"Option{place} Value" for place in (1, 2, 3)),
        ],
        # What Shopify calls the only variant of a product without options.
        "blank_values": ["Default Title"],
        "sku_template": "{Handle|URL handle}-{Option1 Value}-{Option2 Value}-{Option3 Value}",
    },
)

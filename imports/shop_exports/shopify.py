"""Shopify's product export. A product's first row has its texts; other rows have a variant or only a picture.

Column names are English in every language of the shop. If a column has two names below, exports since 2024
use the second name. The export of a shop with several locations has no quantities. The inventory export
has the quantities, with a row per variant and location, or (in older files) a column per location.
"""

from __future__ import annotations

from imports.shop_exports.export import ShopExport, StockExport, column, columns, options_named_by

HANDLES = ["Handle", "URL handle"]
# Product files and stock files must build the same sku for a variant without a sku.
BUILT_SKU = {
    # Shopify's name for the only variant of a product without options.
    "blank_values": ["Default Title"],
    "sku_template": "{Handle|URL handle}-{Option1 Value}-{Option2 Value}-{Option3 Value}",
}
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
        **BUILT_SKU,
    },
)

SHOPIFY_STOCK = StockExport(
    name="shopify",
    title="Shopify, inventory",
    signature=frozenset({"handle", "option1 value", "sku", "option3 value"}),
    id_field="SKU",
    # Prefer available units, because units on hand include units sold to other customers of the shop.
    amount_fields=("Available", "Available (not editable)", "On hand", "On hand (current)"),
    location_field="Location",
    other_fields=frozenset(
        {"handle", "title", "sku", "barcode", "hs code", "coo", "bin name"}
        | {f"option{place} {each}" for place in (1, 2, 3) for each in ("name", "value")}
    ),
    not_stocked=frozenset({"not stocked"}),
    rows=BUILT_SKU,
)

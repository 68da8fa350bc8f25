"""Amazon's files of products: the listings report, and the inventory file with two lines above its header.

In an inventory file, a row with `parent` in the column `parent_child` has no price. The rows of its variants
have its sku in `parent_sku`. The product ids of the listings report are left out, because most are ASINs,
which are not barcodes.
"""

from __future__ import annotations

from imports.shop_exports.export import ShopExport, column, columns

AMAZON = ShopExport(
    id=10,
    name="amazon",
    title="Amazon, listings report or inventory file",
    signatures=(
        frozenset({"item-name", "listing-id", "seller-sku", "price", "quantity"}),
        frozenset({"item_sku", "item_name", "standard_price", "external_product_id"}),
    ),
    field_mapping=(
        *columns(["item_sku", "seller-sku"], "sku"),
        column("parent_sku", "model"),
        *columns(["item_name", "item-name"], "title"),
        *columns(["standard_price", "price"], "retail_price"),
        column("sale_price", "special_sale_price"),
        column("sale_from_date", "special_sale_price_start"),
        column("sale_end_date", "special_sale_price_end"),
        *columns(["product_description", "item-description"], "description"),
        *columns([f"bullet_point{place}" for place in range(1, 6)], "description_bullets"),
        column("external_product_id", "gtin"),
        column("main_image_url", "images"),
        *columns([f"other_image_url{place}" for place in range(1, 9)], "images"),
        column("image-url", "images"),
        column("color_name", "option.color"),
        column("size_name", "option.size"),
        column("brand_name", "property.brand"),
        column("part_number", "property.mpn"),
        column("listing-id", "id_in_source"),
    ),
    rows={"group_rows": {"field": "parent_child", "values": ["parent"]}},
)

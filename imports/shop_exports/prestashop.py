"""PrestaShop's products, in the columns of its import and export: a row per product, without combinations.

Prices without tax are preferred, if the file has them. A product without a reference gets a sku from its id.
"""

from __future__ import annotations

from imports.shop_exports.export import ShopExport, column, columns

IDS = ["Product ID", "ID"]
PRICES = [
    *("Price tax excluded", "Price tax excl.", "Price tax excluded or Price tax included"),
    "Price tax included",
]
REFERENCES = ["Reference #", "Reference"]

PRESTASHOP = ShopExport(
    id=8,
    name="prestashop",
    title="PrestaShop, products",
    signatures=tuple(
        frozenset({"active (0/1)", name, "categories (x,y,z...)", price.lower()})
        for name in ("name *", "name")
        for price in PRICES
    ),
    field_mapping=(
        *columns(REFERENCES, "sku"),
        *columns(["Name *", "Name"], "title"),
        *columns(PRICES, "retail_price"),
        *columns(["Wholesale price", "Cost price"], "wholesale_price"),
        column("Description", "description"),
        *columns(["Summary", "Short description"], "description_extra"),
        column("EAN13", "ean"),
        column("UPC", "upc"),
        column("Weight", "weight"),
        *columns(["Image URLs (x,y,z...)", "Image URLs"], "images"),
        column("Active (0/1)", "listed"),
        *columns(IDS, "id_in_source"),
        *columns(["Manufacturer", "Brand"], "property.brand"),
        column("MPN", "property.mpn"),
    ),
    rows={"sku_template": "prestashop-{Product ID|ID}"},
)

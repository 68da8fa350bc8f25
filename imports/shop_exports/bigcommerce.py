"""BigCommerce's product export: a row `Product`, and rows `SKU` and `Rule` for its options.

A row `SKU` has its options inside its name, and its price may follow from a row `Rule`. Therefore only rows
`Product` are read.
"""

from __future__ import annotations

from imports.shop_exports.export import LEAVE_OUT, ShopExport, column, columns

PLACES = range(1, 11)

BIGCOMMERCE = ShopExport(
    id=9,
    name="bigcommerce",
    title="BigCommerce, products",
    signatures=(frozenset({"item type", "product id", "product name", "product code/sku", "price"}),),
    field_mapping=(
        column("Product Code/SKU", "sku"),
        column("Product Name", "title"),
        column("Product Description", "description"),
        column("Price", "retail_price"),
        column("Cost Price", "wholesale_price"),
        column("Sale Price", "special_sale_price"),
        column("Global Trade Item Number", "gtin"),
        column("Product UPC/EAN", "gtin"),
        column("Product Weight", "weight"),
        # The `File` columns have file names without a base URL. These names are left out.
        *columns(
            [f"Product Image {name} - {place}" for place in PLACES for name in ("URL", "File")],
            "images",
            relative_urls=LEAVE_OUT,
        ),
        column("Product Visible?", "listed"),
        column("Product ID", "id_in_source"),
        column("Brand Name", "property.brand"),
        column("Manufacturer Part Number", "property.mpn"),
    ),
    rows={
        "only_rows": {"field": "Item Type", "values": ["product"]},
        "sku_template": "bigcommerce-{Product ID}",
    },
)

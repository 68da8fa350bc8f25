"""Product feeds for Google Merchant Center and for Meta's catalogs (Facebook, Instagram): a row per variant.

Column names have underscores in text files, and spaces in spreadsheets. Prices have a currency: `15.00 USD`.
Weights are left out, because a cell also has the unit of weight (`1.2 kg`).
"""

from __future__ import annotations

from collections.abc import Sequence

from imports.shop_exports.export import ShopExport, column, columns

ALWAYS = {"id", "title", "description", "availability", "condition", "price", "link"}
# Columns that only feeds for Meta have.
OF_META = ("fb_product_category", "quantity_to_sell_on_facebook")


def spellings(name: str) -> list[str]:
    """Return the names of an attribute in a file and in a spreadsheet."""
    return list(dict.fromkeys([name, name.replace("_", " ")]))


def attributes(names: Sequence[str], target: str) -> list[dict[str, object]]:
    return [entry for name in names for entry in columns(spellings(name), target)]


FIELD_MAPPING = (
    column("id", "sku"),
    *attributes(["item_group_id"], "model"),
    column("title", "title"),
    column("description", "description"),
    column("price", "retail_price"),
    *attributes(["sale_price"], "special_sale_price"),
    column("gtin", "gtin"),
    *attributes(["image_link", "additional_image_link"], "images"),
    *attributes(["product_highlight"], "description_bullets"),
    column("color", "option.color"),
    column("size", "option.size"),
    column("brand", "property.brand"),
    column("mpn", "property.mpn"),
    column("material", "property.material"),
    column("pattern", "property.pattern"),
    column("gender", "property.gender"),
    *attributes(["age_group"], "property.age_group"),
    *attributes(["product_type"], "property.type"),
)

GOOGLE = ShopExport(
    id=4,
    name="google",
    title="Google Merchant Center, products",
    signatures=tuple(frozenset({*ALWAYS, name}) for name in spellings("image_link")),
    unlike=frozenset(OF_META),
    field_mapping=FIELD_MAPPING,
)
FACEBOOK = ShopExport(
    id=5,
    name="facebook",
    title="Facebook and Instagram (Meta), products",
    signatures=tuple(frozenset({*ALWAYS, "image_link", name}) for name in OF_META),
    field_mapping=FIELD_MAPPING,
)

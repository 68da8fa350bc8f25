"""The built-in mappings, and the detection of a file's mapping by its header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imports.shop_exports.amazon import AMAZON
from imports.shop_exports.bigcommerce import BIGCOMMERCE
from imports.shop_exports.etsy import ETSY
from imports.shop_exports.export import ShopExport, StockExport
from imports.shop_exports.magento import MAGENTO
from imports.shop_exports.prestashop import PRESTASHOP
from imports.shop_exports.product_feeds import FACEBOOK, GOOGLE
from imports.shop_exports.shopify import SHOPIFY, SHOPIFY_STOCK
from imports.shop_exports.wix import WIX
from imports.shop_exports.woocommerce import WOOCOMMERCE

BUILT_IN: Mapping[str, ShopExport] = {
    export.name: export
    for export in (
        *(SHOPIFY, WOOCOMMERCE, MAGENTO, GOOGLE, FACEBOOK),
        *(ETSY, WIX, PRESTASHOP, BIGCOMMERCE, AMAZON),
    )
}
OF_STOCK: Mapping[str, StockExport] = {SHOPIFY_STOCK.name: SHOPIFY_STOCK}


def recognise(header: Sequence[str]) -> ShopExport | None:
    """Return the export with this header, or None if no export or more than one has such a header."""
    names = {name.strip().casefold() for name in header}
    found = [each for each in BUILT_IN.values() if each.has_header(names)]
    return found[0] if len(found) == 1 else None


def recognise_stock(header: Sequence[str]) -> StockExport | None:
    """Return the stock export whose signature is in this header, or None."""
    names = {name.strip().casefold() for name in header}
    return next((each for each in OF_STOCK.values() if each.signature <= names), None)

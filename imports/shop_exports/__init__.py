"""Saved mappings that come with the service, and which of them a header asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imports.shop_exports.export import ShopExport
from imports.shop_exports.magento import MAGENTO
from imports.shop_exports.shopify import SHOPIFY
from imports.shop_exports.woocommerce import WOOCOMMERCE

BUILT_IN: Mapping[str, ShopExport] = {each.name: each for each in (SHOPIFY, WOOCOMMERCE, MAGENTO)}


def recognise(header: Sequence[str]) -> ShopExport | None:
    """The one export whose header this surely is; None where that is not certain."""
    names = {name.strip().casefold() for name in header}
    found = [each for each in BUILT_IN.values() if each.has_header(names)]
    return found[0] if len(found) == 1 else None

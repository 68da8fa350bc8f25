"""A retailer with one supplier that has any number of variants, and their stock."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.models import Partnership, Retailer, Supplier
from inventory.models import Warehouse
from tools.bench.database import execute
from tools.bench.measuring import timed

VARIANTS = """
    INSERT INTO catalog_variant (supplier_id, sku, model, title, description, description_extra,
        description_bullets, upc, ean, gtin, id_in_source, images, retail_price, wholesale_price, options,
        properties, listed)
    SELECT %s, 'SKU-' || lpad(n::text, 8, '0'), 'MODEL-' || n / 4, 'Shirt no. ' || n || ', red',
        'soft cotton made to last', '', '{}', '', '', '', n::text, '', 19.99, 9.5, '[]', '[]', true
    FROM generate_series(1, %s) n
"""
STOCK = """
    INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
    SELECT v.id, %s, v.id %% 500, 0 FROM catalog_variant v WHERE v.supplier_id = %s ORDER BY v.id
"""


@dataclass(frozen=True)
class Shop:
    """A retailer, its supplier, and the supplier's warehouse with the stock."""

    retailer: Retailer
    supplier: Supplier
    warehouse: Warehouse


def a_shop(name: str, variants: int) -> Shop:
    supplier, retailer = Supplier.objects.create(name=name), Retailer.objects.create(name=name)
    Partnership.objects.create(retailer=retailer, supplier=supplier)
    warehouse = Warehouse.objects.create(supplier=supplier, name="Main", is_default=True)
    with timed(f"{variants:,} variants and their stock"):
        execute(VARIANTS, [supplier.pk, variants])
        execute(STOCK, [warehouse.pk, supplier.pk])
        execute("VACUUM ANALYZE")
    return Shop(retailer, supplier, warehouse)

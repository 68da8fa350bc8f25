"""A count of all stock, which PostgreSQL stores without writing an index."""

from __future__ import annotations

import factory
from django.db import connection
from django.utils import timezone

from inventory.models import Warehouse
from tests.factories import StockLevelFactory, VariantFactory

LEVELS = 400
UPDATES = """
    SELECT pg_stat_get_xact_tuples_updated(oid), pg_stat_get_xact_tuples_hot_updated(oid)
    FROM pg_class WHERE relname = 'inventory_stocklevel'
"""


def updates() -> tuple[int, int]:
    """Return the number of updated levels, and how many of them wrote no index. Earlier tests count, too."""
    with connection.cursor() as cursor:
        cursor.execute(UPDATES)
        updated, without_index = cursor.fetchone()
        return updated, without_index


def test_a_count_of_all_stock_writes_no_index(acme, client_for):
    warehouse = Warehouse.objects.get(supplier=acme, is_default=True)
    variants = VariantFactory.create_in_bulk(LEVELS, supplier=acme)
    counted = {"counted_at": timezone.now(), "stocked_at": timezone.now()}
    StockLevelFactory.create_in_bulk(
        LEVELS, warehouse=warehouse, variant=factory.Iterator(variants), on_hand=3, **counted
    )

    updated, without_index = updates()
    counts = [{"id": variant.sku, "amount": 3} for variant in variants]
    answer = client_for(acme).post("inventory", {"warehouse_id": warehouse.pk, "inventories": counts})

    assert answer.json()["unchanged"] == LEVELS
    assert updates() == (updated + LEVELS, without_index + LEVELS)

"""Old stock movements are folded after STOCK_MOVEMENT_DAYS; with 0, they are kept forever."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection

from inventory.ledger import fold
from inventory.models import StockMovement, Warehouse
from tests.factories import set_stock

LONG_AGO = datetime(2025, 3, 10, tzinfo=UTC)


@pytest.fixture
def old_movements(acme, a_variant, settings):
    """Create two movements in a month of the past, and keep movements forever."""
    lamp = a_variant(acme, "LAMP", stock=5)
    set_stock(variant=lamp, on_hand=7)
    with connection.cursor() as cursor:
        cursor.execute("SELECT make_stockmovement_partition(%s)", [LONG_AGO.date()])
        cursor.execute("UPDATE inventory_stockmovement SET occurred_at = %s", [LONG_AGO])
    settings.STOCK_MOVEMENT_DAYS = 0
    return StockMovement.objects.filter(variant_id=lamp.pk)


def test_movements_that_are_kept_forever_are_not_folded(old_movements):
    before = list(old_movements.order_by("id").values())

    assert fold() == 0
    assert len(before) == 2
    assert list(old_movements.order_by("id").values()) == before


def test_a_count_of_any_age_is_accepted_if_movements_are_kept_forever(acme, client_for, old_movements):
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    body = {"warehouse_id": east.pk, "inventories": [{"id": "LAMP", "amount": 1}]}

    answer = client_for(acme).post("inventory", body | {"as_of": "2025-02-01T00:00:00Z"})

    assert answer.status_code == 200, answer.content

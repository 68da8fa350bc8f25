"""Orders that cannot get stock now do not hide the orders on later pages."""

from __future__ import annotations

import pytest

from fulfillments.models import FulfillmentLine
from orders.backorders import allocating
from tests.factories import set_stock
from tests.orders.push_bodies import an_order


@pytest.fixture
def orders(acme, a_variant, shop, client_for):
    """Push three short orders of Shop, each for its own variant; return their ids."""
    ids = []
    for sku in ("LAMP", "RUG", "MAT"):
        a_variant(acme, sku, stock=0)
        ids.append(client_for(shop).post("orders", an_order({"sku": sku, "quantity": 1})).json()["order_id"])
    return ids


def test_an_order_behind_a_page_of_failing_orders_gets_its_stock(orders, monkeypatch):
    monkeypatch.setattr(allocating, "ROUTED", allocating.ROUTED.replace("LIMIT 500", "LIMIT 2"))
    allocate_to = allocating._allocate_to
    monkeypatch.setattr(allocating, "_allocate_to", lambda pk: None if pk in orders[:2] else allocate_to(pk))
    set_stock(on_hand=1)

    assert not allocating.allocate_all(None, seconds=60)

    lines = FulfillmentLine.objects.order_by("fulfillment__order_id")
    assert [*lines.values_list("reserved", flat=True)] == [0, 0, 1]

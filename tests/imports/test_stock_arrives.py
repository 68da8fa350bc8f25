"""Units of a stock file go to waiting orders."""

from __future__ import annotations

import pytest

from fulfillments.models import FulfillmentLine
from orders.tasks import serve_waiting
from tests.orders.push_bodies import an_order


@pytest.mark.django_db(transaction=True)
def test_units_of_a_file_go_to_waiting_orders_oldest_first(
    acme, shop, a_variant, client_for, stocked, monkeypatch
):
    monkeypatch.setattr(
        "orders.backorders.allocating._wake", serve_waiting
    )  # do the work of the woken worker at once
    a_variant(acme, "LAMP", stock=0)
    for _ in range(3):
        client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 2}))

    assert stocked(acme, "sku,quantity\nLAMP,3\n")["status"] == "succeeded"

    lines = FulfillmentLine.objects.order_by("fulfillment__order_id")
    assert [*lines.values_list("reserved", flat=True)] == [2, 1, 0]

"""Most pushes plan their order without locking stock (ADR 11)."""

from __future__ import annotations

from unittest import mock

import pytest

from accounts.actors import Actor
from inventory.models import StockLevel
from orders import pushing
from tests.factories import StockLevelFactory, WarehouseFactory
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db
TWO_LAMPS = {"sku": "LAMP", "quantity": 2}


def test_over_promised_stock_that_a_push_does_not_use_causes_no_second_plan(acme, a_variant, shop_api):
    lamp = a_variant(acme, "LAMP", stock=2)
    assert shop_api.post("orders", an_order(TWO_LAMPS)).status_code == 201
    StockLevel.objects.get().count(1, by=Actor.system("tests"))
    west = WarehouseFactory.create(supplier=acme, name="West")
    StockLevelFactory.create(variant=lamp, warehouse=west, on_hand=10)

    with mock.patch.object(pushing, "_fill_from_held", wraps=pushing._fill_from_held) as planned_again:
        answer = shop_api.post("orders", an_order(TWO_LAMPS))

    assert answer.status_code == 201, answer.content
    planned_again.assert_not_called()

"""A restock date that cannot be read has the same code wherever it is sent."""

from __future__ import annotations

import pytest

from fulfillments.models import Fulfillment
from tests.orders.fixtures import status
from tests.orders.push_bodies import an_order


@pytest.mark.parametrize("day", ["soon", "2030-02-30", "2020-01-31", 20300101])
def test_an_unreadable_date_is_answered_as_an_invalid_date(acme, shop, a_variant, client_for, day):
    a_variant(acme, "LAMP", stock=1)
    client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}))
    work = Fulfillment.objects.get()

    answer = client_for(acme).put(status(work, "out_of_stock"), {"expected_at": day})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_date")
    assert [error["code"] for error in answer.json()["errors"]] == ["invalid_date"]

"""An empty filter is refused, because it would list everything. An empty limit of time means no limit."""

from __future__ import annotations

import pytest

from fulfillments.models import Capture
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("role", "query"),
    [
        ("retailer", "orders?retailer_order_id="),
        ("retailer", "orders?processing_state=&sort=updated_at"),
        ("retailer", "orders?filter[sales_order_number]=%20"),
        ("retailer", 'orders?filter={"retailer_order_id":"%20"}'),
        ("supplier", "variants?sku="),
        ("supplier", "variants?listed="),
        ("supplier", "inventory?warehouse_id="),
        ("supplier", "inventory/movements?kind="),
        ("supplier", "imports?status="),
    ],
)
def test_an_empty_filter_is_refused_by_its_name(acme, shop, client_for, role, query):
    answer = client_for(shop if role == "retailer" else acme).get(query)
    [fault] = answer.json()["errors"]
    assert (answer.status_code, answer.json()["code"], fault["code"]) == (400, "invalid_filter", "blank")
    assert fault["field"] in query


@pytest.mark.parametrize("name", ["fulfillment_state", "retailer_state"])
def test_an_empty_state_captures_nothing(acme, shop, client_for, a_variant, name):
    a_variant(acme, "LAMP", stock=1)
    client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}))
    assert client_for(acme).get(f"fulfillments?{name}=").status_code == 400
    assert not Capture.objects.exists()
    assert len(client_for(acme).get("fulfillments?filter=&cursor=&limit=").json()) == 1


def test_an_empty_limit_of_time_lists_everything(shop, client_for):
    assert client_for(shop).get("orders?updated_at__gt=&sort=updated_at").status_code == 200

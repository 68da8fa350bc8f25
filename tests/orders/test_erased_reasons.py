"""The reasons of cancellations and returns are erased with their order, wherever they are shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command

from events.models import Event
from inventory.models import StockMovement
from orders.models import Order
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

JANE = {
    "first_name": "Jane",
    "last_name": "Plantedname",
    "address1": "Plantation Road 8",
    "zip_code": "out_of_stock",
    "city": "Plantingen",
    "country": "DE",
}


@pytest.fixture
def returned(acme, shop, a_variant, client_for) -> Any:
    """Return a function that cancels one lamp and returns one, both for this reason. It returns the order."""

    def go(reason: str) -> Order:
        a_variant(acme, "LAMP", stock=10)
        shop_api, acme_api = client_for(shop), client_for(acme)
        body = an_order({"sku": "LAMP", "quantity": 3}, shipping_address=JANE)
        order = Order.objects.get(pk=shop_api.post("orders", body).json()["order_id"])
        work = f"fulfillments/{order.fulfillments.get().pk}"
        lamp = {"sku": "LAMP", "quantity": 1}
        shop_api.post(f"orders/{order.pk}/cancel", {"reason": reason, "lines": [lamp]})
        acme_api.put(f"{work}/setStatus/canceled")
        acme_api.put(f"{work}/setStatus/accepted")
        rejected = [{"id": order.fulfillments.get().pk, "rejectId": "1", "items": [lamp]}]
        assert acme_api.post("fulfillments/rejections", rejected).json()["code"] == "lines_rejected"
        acme_api.put(f"{work}/setStatus/shipped", {"tracking_number": "1Z1"})
        back = {"reason": reason, "return_lines": [{**lamp, "restock": True}]}
        assert acme_api.post(f"{work}/returns", back).json()["code"] == "return_recorded"
        shop_api.post(f"orders/{order.pk}/cancel")
        return order

    return go


@pytest.mark.parametrize(
    "reason", ["Jane Plantedname called", "Mrs Plantedname called", "Plantation Road 8 is closed"]
)
def test_a_reason_that_quotes_the_consumer_is_erased_in_events_and_movements(
    returned, acme, shop, client_for, reason
):
    order = returned(reason)

    call_command("erase", order=[order.pk], reason="She asked by letter")

    Event.publish()
    movements = client_for(acme).get("inventory/movements", {"kind": "return"}).content.decode()
    feeds = [client_for(party).get("events").content.decode() for party in (acme, shop)]
    assert "Plant" not in "".join([movements, *feeds])
    assert '"reason":"erased"' in movements


def test_other_reasons_and_codes_stay(returned):
    order = returned("broken in transit")

    call_command("erase", order=[order.pk], reason="She asked by letter")

    reasons = Event.objects.filter(order_id=order.pk, data__has_key="reason").order_by("pk")
    assert {reason for each in reasons if (reason := each.data["reason"])} == {
        "broken in transit",
        "out_of_stock",
    }
    assert StockMovement.objects.get(kind="return").reason == "broken in transit"

"""Each type of event is recorded by the action that it names."""

from __future__ import annotations

from events.models import Event
from orders.services import route_again
from tests.orders.fixtures import OPERATOR, status


def data_of(type_: str) -> dict[str, object]:
    data: dict[str, object] = Event.objects.get(type=type_).data
    return data


def test_an_invoice_is_an_event(work, acme_api):
    acme_api.put(f"fulfillments/{work.pk}", {"invoice_id": "INV-1"})

    assert data_of("fulfillment.invoiced") == {"invoice_id": "INV-1"}


def test_a_new_deadline_is_an_event_for_both_sides(work, shop_api):
    shop_api.request("PATCH", f"orders/{work.order_id}", {"ship_until": "2099-01-31"})

    assert data_of("order.ship_until_changed") == data_of("fulfillment.ship_until_changed")


def test_a_rejection_and_the_routing_after_it_are_events(work, acme_api):
    acme_api.put(status(work, "out_of_stock"))
    assert data_of("fulfillment.rejected")["reason"] == "out_of_stock"

    with work.order.change(by=OPERATOR) as change:
        route_again(change)
    assert data_of("order.routed_again")["quantity"] == 5

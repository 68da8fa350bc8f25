"""The actors of stock movements in a supplier's view, where other parties are shown only by role."""

from __future__ import annotations

import pytest

from accounts.actors import Actor, ActorKind
from inventory.models import StockLevel
from tests.orders.push_bodies import an_order


@pytest.fixture
def lamps(acme, rival, a_variant):
    """Create lamps at both suppliers, cheaper at Acme; return Rival's."""
    a_variant(acme, "LAMP", stock=5, wholesale_price="1")
    return a_variant(rival, "LAMP", stock=5, wholesale_price="2")


@pytest.fixture
def read(rival_api):
    """Return a function that reads the kind, actor and request id of Rival's newest movement, as Rival."""

    def newest():
        movement = rival_api.get("inventory/movements", {"limit": 1}).json()[0]
        return movement["kind"], movement["actor"], movement["cause"].get("request_id")

    return newest


def test_a_retailers_reservation_hides_its_key_and_request(lamps, rival, shop_api, read):
    line = {"sku": "LAMP", "quantity": 1, "supplier_id": rival.pk}
    shop_api.post("orders", an_order(line), X_Request_Id="shops-night-run-7")

    assert read() == ("reserve", "retailer", None)


def test_a_competitors_refusal_hides_its_key_and_request(lamps, acme, acme_api, push, work_of, read):
    order = push({"sku": "LAMP", "quantity": 1})
    path = f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock"
    acme_api.put(path, X_Request_Id="acmes-night-run-7")

    assert read() == ("reserve", "system", None)


def test_a_competitors_file_is_hidden(lamps, acme, push, work_of, read, put):
    order = push({"sku": "LAMP", "quantity": 1})
    put(f"{work_of(order, acme).pk},out_of_stock,,,,,,")

    assert read() == ("reserve", "system", None)


def test_the_suppliers_own_file_is_named(acme, acme_api, work, put):
    job = put(f"{work.pk},ship,1Z999,UPS,,,,")

    movements = acme_api.get("inventory/movements", {"kind": "ship"}).json()
    assert {each["actor"] for each in movements} == {f"import:{job.pk}"}


def test_an_operator_is_named_by_role(lamps, read):
    level = StockLevel.objects.get(variant=lamps)
    level.adjust(2, reason="Found two", by=Actor(ActorKind.OPERATOR, "user:olga", "olgas-request"))

    assert read() == ("adjust", "operator", None)


def test_the_suppliers_own_actions_are_named(lamps, rival, rival_api, push, work_of, read):
    order = push({"sku": "LAMP", "quantity": 1, "supplier_id": rival.pk})
    work = work_of(order, rival)
    rival_api.put(f"fulfillments/{work.pk}/setStatus/accepted")
    rival_api.put(
        f"fulfillments/{work.pk}/setStatus/shipped", {"tracking_number": "1Z"}, X_Request_Id="rivals-own"
    )

    kind, actor, request_id = read()
    assert (kind, request_id) == ("ship", "rivals-own")
    assert actor.startswith("key:fxk_")

"""Who moved a supplier's stock, as that supplier reads it: others are named by what they are, and no more."""

from __future__ import annotations

import pytest

from accounts.actors import Actor, ActorKind
from inventory.models import StockLevel
from tests.orders.push_bodies import an_order


@pytest.fixture
def lamps(acme, rival, a_variant):
    """Both have them; Acme's are cheaper."""
    a_variant(acme, "LAMP", stock=5, wholesale_price="1")
    return a_variant(rival, "LAMP", stock=5, wholesale_price="2")


@pytest.fixture
def read(rival_api):
    """What Rival reads of its last movement: who, and in which request."""

    def newest():
        movement = rival_api.get("inventory/movements", {"limit": 1}).json()[0]
        return movement["kind"], movement["actor"], movement["cause"].get("request_id")

    return newest


def test_what_a_retailer_reserves_names_neither_its_key_nor_its_request(lamps, rival, shop_api, read):
    line = {"sku": "LAMP", "quantity": 1, "supplier_id": rival.pk}
    shop_api.post("orders", an_order(line), X_Request_Id="shops-night-run-7")

    assert read() == ("reserve", "retailer", None)


def test_what_a_competitor_refuses_names_neither_its_key_nor_its_request(
    lamps, acme, acme_api, push, work_of, read
):
    order = push({"sku": "LAMP", "quantity": 1})
    path = f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock"
    acme_api.put(path, X_Request_Id="acmes-night-run-7")

    assert read() == ("reserve", "system", None)


def test_a_competitors_file_is_not_named_either(lamps, acme, push, work_of, read, put):
    order = push({"sku": "LAMP", "quantity": 1})
    put(f"{work_of(order, acme).pk},out_of_stock,,,,,,")

    assert read() == ("reserve", "system", None)


def test_a_file_of_its_own_is_named(acme, acme_api, work, put):
    job = put(f"{work.pk},ship,1Z999,UPS,,,,")

    movements = acme_api.get("inventory/movements", {"kind": "ship"}).json()
    assert {each["actor"] for each in movements} == {f"import:{job.pk}"}


def test_an_operator_is_an_operator(lamps, read):
    level = StockLevel.objects.get(variant=lamps)
    level.adjust(2, reason="Found two", by=Actor(ActorKind.OPERATOR, "user:olga", "olgas-request"))

    assert read() == ("adjust", "operator", None)


def test_what_it_did_itself_is_its_own(lamps, rival, rival_api, push, work_of, read):
    order = push({"sku": "LAMP", "quantity": 1, "supplier_id": rival.pk})
    work = work_of(order, rival)
    rival_api.put(f"fulfillments/{work.pk}/setStatus/accepted")
    rival_api.put(
        f"fulfillments/{work.pk}/setStatus/shipped", {"tracking_number": "1Z"}, X_Request_Id="rivals-own"
    )

    kind, actor, request_id = read()
    assert (kind, request_id) == ("ship", "rivals-own")
    assert actor.startswith("key:fxk_")

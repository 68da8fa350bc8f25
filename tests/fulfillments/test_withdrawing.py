"""An operator reassigns work to another supplier: stock stays correct, and no unit is lost."""

import pytest

from accounts.actors import Actor, ActorKind
from api.errors import InvalidTransition
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.reassigning import find_alternatives
from inventory.models import StockLevel
from orders.models import Order
from orders.reconciling.reconciling import differences
from tests.orders.push_bodies import an_order

OLGA = Actor(ActorKind.OPERATOR, "user:olga", reason="Acme is on strike")


@pytest.fixture
def push(client_for, shop):
    def push_(*lines):
        answer = client_for(shop).post("orders", an_order(*lines))
        return Order.objects.get(pk=answer.json()["order_id"])

    return push_


@pytest.fixture
def work(acme, rival, a_variant, push):
    """Push an order of two lanterns. Acme gets the order, because its price is 5 and Rival's price is 7."""
    a_variant(acme, "LAN-1", stock=10, wholesale_price="5")
    a_variant(rival, "LAN-1", stock=4, wholesale_price="7")
    return push({"sku": "LAN-1", "quantity": 2}).fulfillments.get()


def withdraw(work, to=None):
    with Order.objects.get(pk=work.order_id).change(by=OLGA) as change:
        Fulfillment.objects.get(pk=work.pk).withdraw(change, to_supplier=to)


def stock(supplier):
    level = StockLevel.objects.get(variant__supplier=supplier)
    return level.on_hand, level.reserved


def test_the_other_supplier_gets_the_units_and_the_first_keeps_its_stock(work, acme, rival):
    withdraw(work)

    [first, second] = Fulfillment.objects.order_by("pk")
    assert (first.supplier, first.state) == (acme, "canceled")
    assert (second.supplier, second.state, second.lines.get().quantity) == (rival, "new", 2)
    assert (stock(acme), stock(rival)) == ((10, 0), (4, 2))
    assert Order.objects.get().processing_state == "received"


def test_the_first_supplier_reads_canceled_without_the_reason(work, acme, client_for):
    withdraw(work)
    supplier = client_for(acme)

    assert supplier.get(f"fulfillments/{work.pk}").json()["fulfillment_state"] == "canceled"
    assert supplier.put(f"fulfillments/{work.pk}/setStatus/accepted").status_code == 409
    Event.publish()
    [event] = supplier.get("events", {"type": "fulfillment.withdrawn"}).json()["results"]
    assert event["data"]["reason"] == "withdrawn"
    assert "strike" not in str(event)


def test_the_chosen_supplier_gets_the_units(work, acme, rival):
    withdraw(work, to=rival.pk)
    assert Fulfillment.objects.get(state="new").supplier == rival


def test_without_a_supplier_that_has_all_units_nothing_changes(acme, rival, a_variant, push):
    a_variant(acme, "LAN-1", stock=10, wholesale_price="5")
    a_variant(rival, "LAN-1", stock=1, wholesale_price="7")
    work = push({"sku": "LAN-1", "quantity": 2}).fulfillments.get()
    events = Event.objects.count()

    with pytest.raises(InvalidTransition, match="stock for 1 of the units"):
        withdraw(work)
    with pytest.raises(InvalidTransition, match="nothing was changed"):
        withdraw(work, to=rival.pk)

    work.refresh_from_db()
    assert (work.state, Event.objects.count(), stock(acme)) == ("new", events, (10, 2))


def test_a_pinned_line_stays_with_its_supplier(acme, rival, a_variant, push):
    a_variant(acme, "LAN-1", stock=10)
    a_variant(rival, "LAN-1", stock=10)
    work = push({"sku": "LAN-1", "supplier_id": acme.pk, "quantity": 2}).fulfillments.get()

    with pytest.raises(InvalidTransition):
        withdraw(work)
    assert find_alternatives(work).able == {}


def test_the_supplier_that_lost_the_units_is_not_asked_again(work, acme, rival, client_for):
    withdraw(work)
    second = Fulfillment.objects.get(state="new")
    client_for(rival).put(f"fulfillments/{second.pk}/setStatus/out_of_stock")

    assert Order.objects.get().processing_state == "exception"


def test_the_rest_of_a_partial_shipment_can_be_reassigned(work, acme, rival, client_for):
    supplier, line = client_for(acme), work.lines.get()
    supplier.put(f"fulfillments/{work.pk}/setStatus/accepted")
    parcel = {"tracking_number": "T", "lines": [{"id": line.pk, "quantity": 1}]}
    supplier.put(f"fulfillments/{work.pk}/setStatus/shipped", parcel)

    withdraw(work)

    work.refresh_from_db()
    assert (work.state, Fulfillment.objects.get(supplier=rival).lines.get().quantity) == ("shipped", 1)
    assert Order.objects.get().processing_state == "partially_shipped"


def test_every_candidate_is_shown_with_price_stock_and_reason(work, acme, rival):
    elsewhere = find_alternatives(work)

    [line] = elsewhere.lines
    found = {each["supplier"]: (each["cost"], each["available"]) for each in line["candidates"]}
    assert found[rival] == ("7", 4)
    assert {each["reason"].partition(":")[0] for each in line["candidates"]} >= {"Not asked"}
    assert (elsewhere.able, elsewhere.chosen) == ({rival.pk: "Rival"}, "Rival")


def test_all_sums_agree_after_reassigning(work):
    withdraw(work)
    assert [*map(str, differences())] == []

"""A suspended party gets no new trade. Its open work continues, and a suspension may have a last day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.utils import timezone

from accounts.models import Partnership, Suspension
from backoffice.suspending.services import end_expired
from events.models import Event
from fulfillments.models import Fulfillment
from inventory.models import Warehouse
from orders.models import Order
from tests.backoffice.conftest import messages
from tests.factories import PartnershipFactory
from tests.orders.push_bodies import an_order

SERVICE = {"service_type": "ecommerce"}


def suspend(client, subject, reason="They moved out", until=""):
    return client.post(f"{path_of(subject)}suspend/", {"reason": reason, "until": until}, follow=True)


def resume(client, subject):
    return client.post(f"{path_of(subject)}resume/", follow=True)


def path_of(subject):
    return f"/admin/accounts/{subject._meta.model_name}/{subject.pk}/"


@pytest.fixture
def lanterns(acme, rival, a_variant):
    """Create the same lantern at both suppliers. Acme's is cheaper."""
    a_variant(acme, "LAN-1", upc="036000291452", stock=10, retail_price=5)
    a_variant(rival, "RIV-1", upc="036000291452", stock=10, retail_price=9)


def push(client_for, retailer, **line):
    body = an_order({"upc": "036000291452", "quantity": 1, **line})
    return client_for(retailer).post("orders", body)


def supplier_of(answer):
    return Fulfillment.objects.get(order_id=answer.json()["order_id"]).supplier


@pytest.mark.usefixtures("lanterns")
class TestSupplier:
    def test_it_gets_no_new_fulfillments_until_it_is_resumed(self, operator, acme, rival, shop, client_for):
        page = suspend(operator, acme)
        assert messages(page) == [
            "Acme is suspended until an operator resumes it. Press Resume trading on its page to undo this."
        ]
        assert supplier_of(push(client_for, shop)) == rival
        assert push(client_for, shop, upc="", sku="LAN-1").status_code == 400
        assert messages(resume(operator, acme)) == ["Acme trades again."]
        assert supplier_of(push(client_for, shop)) == acme

    def test_it_can_finish_open_work(self, operator, acme, shop, client_for):
        order = Order.objects.get(pk=push(client_for, shop).json()["order_id"])
        suspend(operator, acme)
        supplier, work = client_for(acme), order.fulfillments.get()
        assert supplier.get("fulfillments").json()[0]["id"] == work.pk
        supplier.put(f"fulfillments/{work.pk}/setStatus/accepted")
        supplier.put(f"fulfillments/{work.pk}/setStatus/shipped", {"tracking_number": "1Z"})
        order.refresh_from_db()
        assert order.processing_state == "completed"

    def test_its_pushes_of_stock_and_its_catalogue_go_on(self, operator, acme, client_for):
        suspend(operator, acme)
        warehouse = Warehouse.objects.get(supplier=acme, is_default=True)
        body = {"warehouse_id": warehouse.pk, "inventories": [{"sku": "LAN-1", "quantity": 3}]}
        assert client_for(acme).post("inventory", body).json()["updated"] == 1

    def test_the_consequences_are_shown_before_the_suspension(self, operator, acme, shop, client_for):
        push(client_for, shop)
        page = operator.get(f"{path_of(acme)}suspend/")
        assert "1</a> new: can still be captured" in page.text
        assert "Trade stops with: Shop" in page.text
        assert not Suspension.objects.exists()


def test_the_reason_is_for_operators_and_both_sides_get_an_event(operator, acme, shop, client_for):
    tomorrow = (timezone.now() + timedelta(days=1)).date()
    suspend(operator, acme, "Bankrupt?", tomorrow.isoformat())
    resume(operator, acme)
    happened = [(each.type, each.area, each.data.get("reason")) for each in Event.objects.order_by("id")]
    assert happened == [
        ("supplier.suspended", "accounts", "Bankrupt?"),
        ("trade.suspended", "catalog", None),
        ("supplier.resumed", "accounts", None),
        ("trade.resumed", "catalog", None),
    ]
    Event.publish()
    for party in (acme, shop):
        feed = client_for(party).get("events").json()["results"]
        assert [each["type"] for each in feed] == ["trade.suspended", "trade.resumed"]
        assert feed[0]["data"] == {
            "supplier_id": acme.pk,
            "retailer_id": shop.pk,
            "until": tomorrow.isoformat(),
        }
    page = operator.get(f"{path_of(acme)}change/")
    assert "Bankrupt?" in page.text


def test_a_suspension_ends_by_itself_on_its_day(operator, acme, shop, time_machine_at):
    today = timezone.now().date()
    suspend(operator, acme, until=(today + timedelta(days=2)).isoformat())
    assert end_expired() == 0
    assert not Partnership.objects.trading().filter(supplier=acme).exists()
    time_machine_at(today + timedelta(days=2))
    assert end_expired() == 1
    assert Partnership.objects.trading().filter(supplier=acme).exists()
    assert Suspension.objects.get().ended_by == "system:suspension"
    assert end_expired() == 0


@pytest.fixture
def time_machine_at(monkeypatch):
    def at(day: date) -> None:
        moment = timezone.now().replace(year=day.year, month=day.month, day=day.day)
        monkeypatch.setattr("backoffice.suspending.services.timezone.now", lambda: moment)

    return at


def test_a_suspended_retailer_pushes_nothing_new_and_still_reads(
    operator, lanterns, shop, client_for, boutique
):
    body = an_order({"upc": "036000291452", "quantity": 1})
    order = client_for(shop).post("orders", body).json()
    suspend(operator, shop)
    answer = push(client_for, shop)
    assert (answer.status_code, answer.json()["code"]) == (409, "trade_suspended")
    assert client_for(shop).post("orders", body).status_code == 200
    assert client_for(shop).get(f"orders/{order['order_id']}").status_code == 200
    assert b"".join(client_for(shop).get("variants", SERVICE).streaming_content) == b"[]"
    assert push(client_for, boutique).status_code == 201


def test_a_suspended_partnership_leaves_the_others_alone(
    operator, lanterns, acme, rival, shop, boutique, client_for
):
    suspend(operator, Partnership.objects.get(supplier=rival, retailer=shop))
    assert push(client_for, boutique).status_code == 201
    assert push(client_for, shop, upc="", sku="RIV-1").status_code == 400


def test_a_partnership_trades_again_only_after_all_suspensions_have_ended(operator, acme, shop):
    partnership = Partnership.objects.get(supplier=acme, retailer=shop)
    for subject in (acme, shop, partnership):
        suspend(operator, subject)
    for subject in (acme, shop):
        resume(operator, subject)
        partnership.refresh_from_db()
        assert not partnership.is_trading
    resume(operator, partnership)
    partnership.refresh_from_db()
    assert partnership.is_trading


def test_a_new_partnership_of_a_suspended_supplier_is_not_trading(operator, acme):
    suspend(operator, acme)
    fresh = PartnershipFactory.create(supplier=acme)
    fresh.refresh_from_db()
    assert not fresh.is_trading


def test_a_suspension_needs_a_reason_and_happens_once(operator, support, acme):
    assert "This field is required" in suspend(operator, acme, reason="").text
    assert "This day has passed or is today" in suspend(operator, acme, until="2020-01-01").text
    assert messages(resume(operator, acme)) == ["Acme is not suspended, so nothing was changed."]
    suspend(operator, acme)
    assert messages(suspend(operator, acme)) == ["Acme is already suspended. Resume it first."]
    assert support.post(f"{path_of(acme)}resume/").status_code == 403
    assert support.get(f"{path_of(acme)}suspend/").status_code == 403
    assert "Resume trading" not in support.get(f"{path_of(acme)}change/").text
    assert Suspension.objects.in_force().count() == 1

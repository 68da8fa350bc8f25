"""The scorecard of a supplier sums its days; operators and the API see the same numbers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from events.models import Event
from fulfillments.models import Capture, DailySum, Fulfillment, SummedEvents
from fulfillments.scorecard.selectors import Times
from fulfillments.scorecard.sums import add_up
from inventory.models import Warehouse
from orders.reconciling.reconciling import differences
from tests.factories import PartnershipFactory
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db


def summed():
    """Add up all events into daily sums; return the number of new events."""
    Event.publish()
    return add_up(seconds=60)


def scorecard(client, supplier, days=30):
    answer = client.get(f"/v3/suppliers/{supplier.pk}/scorecard", {"days": days})
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.fixture
def work(acme, shop, a_variant, client_for):
    """Return a function that creates fulfillments of Acme with these ages in hours."""
    a_variant(acme, "LAN-1", stock=100)

    def make(*hours_ago, retailer=shop):
        made = []
        for hours in hours_ago:
            pushed = client_for(retailer).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
            one = Fulfillment.objects.get(order_id=pushed.json()["order_id"])
            Fulfillment.objects.filter(pk=one.pk).update(created_at=timezone.now() - timedelta(hours=hours))
            made.append(one)
        return made

    return make


def test_the_scorecard_shows_the_time_of_each_step(acme, work, client_for):
    supplier = client_for(acme)
    fast, slow = work(1.5, 100)
    supplier.get("fulfillments")
    Capture.objects.filter(fulfillment=slow).update(captured_at=timezone.now() - timedelta(hours=90))
    for each in (fast, slow):
        supplier.put(f"fulfillments/{each.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fast.pk}/setStatus/shipped", {"tracking_number": "1Z"})
    summed()

    card = scorecard(supplier, acme)
    assert card["fulfillments"] == 2
    assert card["open_now"] == 1
    assert card["to_capture"]["within_24_hours"] == 2
    accepted = {"count": 2, "average_hours": 50.8, "within_24_hours": 1, "within_72_hours": 1}
    assert accepted.items() <= card["to_accept"].items()
    assert card["to_ship"] | {"median_hours": 0} == {
        "count": 1,
        "average_hours": 1.5,
        "median_hours": 0,
        "within_24_hours": 1,
        "within_72_hours": 1,
    }
    assert card["by_day"][-1] == {
        "date": timezone.now().date().isoformat(),
        "created": 2,
        "accepted": 2,
        "shipped": 1,
        "refused": 0,
    }
    assert len(card["by_day"]) == 30


def test_the_scorecard_counts_refusals_by_reason_and_cancellation_requests(acme, shop, work, client_for):
    supplier, retailer = client_for(acme), client_for(shop)
    first, second, third, fourth = work(1, 1, 1, 1)
    supplier.put(f"fulfillments/{first.pk}/setStatus/wrong_address")
    for each in (second, third):
        retailer.post(f"orders/{each.order_id}/cancel")
    supplier.put(f"fulfillments/{second.pk}/setStatus", {"status": "canceled"})
    supplier.put(f"fulfillments/{third.pk}/setStatus", {"status": "cancelation not allowed"})
    supplier.put(f"fulfillments/{fourth.pk}/setStatus/out_of_stock")
    summed()
    card = scorecard(supplier, acme)
    assert card["refusals"] == {"out_of_stock": 1, "missing_sku": 0, "wrong_address": 1}
    assert card["refusal_rate"] >= 0.4
    assert card["cancellations"] == {"asked": 2, "approved": 1, "refused": 1, "unanswered": 0}


def test_the_scorecard_shows_the_age_of_the_stock(acme, shop, work, client_for):
    supplier = client_for(acme)
    work()
    assert scorecard(supplier, acme)["feed"] == {"last_at": None, "age_hours": None, "count": 0}
    warehouse = Warehouse.objects.get(supplier=acme, is_default=True)
    body = {"warehouse_id": warehouse.pk, "inventories": [{"sku": "LAN-1", "quantity": 3}]}
    supplier.post("inventory", body)
    then = timezone.now() - timedelta(hours=5)
    Event.objects.update(occurred_at=then)
    Warehouse.objects.update(heard_at=then)
    summed()
    feed = scorecard(supplier, acme)["feed"]
    assert (feed["age_hours"], feed["count"]) == (5.0, 1)
    assert scorecard(client_for(shop), acme)["feed"]["count"] == 1


def test_a_former_partner_gets_events_of_its_own_orders_but_none_of_stock(acme, shop, work, client_for):
    work(1)
    summed()
    Warehouse.objects.filter(supplier=acme).update(heard_at=timezone.now())
    assert scorecard(client_for(shop), acme)["feed"]["last_at"] is not None
    shop.partnerships.update(is_active=False)

    card = scorecard(client_for(shop), acme)

    assert (card["fulfillments"], card["open_now"]) == (1, 1)
    assert card["feed"] == {"last_at": None, "age_hours": None, "count": 0}


def test_a_retailer_sees_only_its_own_trade_and_others_see_nothing(
    acme, rival, shop, boutique, work, client_for
):
    work(1, 1)
    summed()
    card = scorecard(client_for(shop), acme)
    assert (card["retailer_id"], card["fulfillments"], card["open_now"]) == (shop.pk, 2, 2)
    assert scorecard(client_for(shop), rival)["fulfillments"] == 0
    path = f"/v3/suppliers/{acme.pk}/scorecard"
    for stranger in (boutique, rival):
        assert client_for(stranger).get(path).status_code == 403
    assert client_for(shop, scopes=["catalog:read"]).get(path).status_code == 403
    assert client_for(acme, scopes=["catalog:read"]).get(path).status_code == 403


def test_the_numbers_of_partners_are_separate(acme, shop, work, client_for, boutique):
    PartnershipFactory.create(retailer=boutique, supplier=acme)
    work(1, 1)
    work(1, retailer=boutique)
    summed()
    assert scorecard(client_for(boutique), acme)["fulfillments"] == 1
    assert scorecard(client_for(shop), acme)["fulfillments"] == 2
    assert scorecard(client_for(acme), acme)["fulfillments"] == 3


@pytest.mark.parametrize("days", ["0", "91", "x", "-1", "30.5", "9999", "٣"])
def test_days_are_from_one_to_ninety(acme, client_for, days):
    answer = client_for(acme).get("scorecard", {"days": days})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "days")


def test_each_event_is_added_once_in_any_number_of_portions(acme, work, monkeypatch):
    work(1, 2, 3)
    monkeypatch.setattr("fulfillments.scorecard.sums.PORTION", 2)
    Event.publish()
    while add_up(seconds=0):
        pass
    everything = DailySum.objects.filter(supplier_id=acme.pk, retailer_id=0, measure="created")
    assert sum(everything.values_list("count", flat=True)) == 3
    assert summed() == 0


def test_fractions_of_seconds_add_up_in_any_number_of_runs(acme, work, client_for, monkeypatch):
    for each in work(1, 2, 3):
        client_for(acme).put(f"fulfillments/{each.pk}/setStatus/accepted")
        accepted = Event.objects.get(fulfillment_id=each.pk, type="fulfillment.accepted").occurred_at
        Fulfillment.objects.filter(pk=each.pk).update(created_at=accepted - timedelta(seconds=10.4))
    monkeypatch.setattr("fulfillments.scorecard.sums.PORTION", 1)
    summed()

    assert [each for each in differences() if each.check == "scorecard"] == []


def test_a_gap_between_epochs_is_stepped_over(acme, work):
    work(1)
    assert summed() > 0
    work(1)
    Event.publish()
    fresh = Event.objects.filter(number__gt=SummedEvents.objects.get().number).order_by("-number")
    for event in fresh:
        Event.objects.filter(pk=event.pk).update(number=F("number") + 10**12)
    assert add_up(seconds=60) == fresh.count()
    assert add_up(seconds=60) == 0


def test_the_scorecard_takes_the_same_queries_for_any_history(acme, work, client_for):
    supplier = client_for(acme)

    def asked():
        with CaptureQueriesContext(connection) as sent:
            scorecard(supplier, acme, 90)
        return len(sent)

    scorecard(supplier, acme)
    before = asked()
    work(*range(1, 12))
    summed()
    assert asked() == before


def test_a_median_is_estimated_within_its_bucket():
    assert Times().median_hours is None
    assert Times(2, 0, [2, *[0] * 10]).median_hours == 0.5
    assert Times(3, 0, [1, 0, 2, *[0] * 8]).median_hours == 2.5
    assert Times(1, 0, [*[0] * 10, 1]).median_hours == 336

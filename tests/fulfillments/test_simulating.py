"""A routing rule is tried on past orders before it is set."""

from datetime import date, timedelta

import pytest
from django.utils import timezone

from accounts.models import Supplier
from events.models import Event
from fulfillments.models import Fulfillment, RoutingDecision, RoutingSimulation
from fulfillments.simulating import running
from tests.backoffice.conftest import operator, order, pushed, support

__all__ = ["operator", "order", "pushed", "support"]

ADD = "/admin/fulfillments/routingsimulation/add/"


@pytest.fixture
def past(acme, rival, shop, a_variant, pushed):
    """Push five orders, which Acme gets because Rival is dearer. Rival has enough LAN-1, and no LAN-2."""
    a_variant(acme, "LAN-1", stock=10, wholesale_price="5")
    a_variant(rival, "LAN-1", stock=10, wholesale_price="7")
    a_variant(acme, "LAN-2", stock=10, wholesale_price="1")
    orders = [pushed(shop, {"sku": "LAN-1", "quantity": 2}) for _ in range(4)]
    return [*orders, pushed(shop, {"sku": "LAN-2", "quantity": 1})]


def ask(client, **rule):
    today = timezone.now().date()
    days = {"first_day": today - timedelta(days=1), "last_day": today, "most": 1000}
    return client.post(ADD, {**days, **rule}, follow=True)


def result(page):
    assert page.request["PATH_INFO"] != ADD, page.context["form"].errors
    return page.context["result"]


def test_leaving_a_supplier_out_shows_the_other_suppliers_and_prices(operator, past, acme, rival):
    page = ask(operator, supplier=acme.pk, left_out="on")

    found = result(page)
    assert (found["orders"], found["changed"], found["moved"], found["unlike"]) == (5, 5, 4, 0)
    # No supplier fills the fifth order.
    assert (found["before"]["amounts"], found["after"]["amounts"]) == ({"USD": "41"}, {"USD": "56"})
    assert found["after"]["unfilled"] == 1
    assert found["suppliers"][str(rival.pk)]["after"]["pieces"] == 8
    assert found["suppliers"][str(acme.pk)]["after"]["orders"] == 0
    assert "5 of 5 orders would be filled differently" in page.text
    assert "2 from Rival" in page.text


def test_a_higher_priority_changes_nothing_where_the_price_decides(operator, past, rival):
    page = ask(operator, supplier=rival.pk, priority=1)
    assert result(page)["changed"] == 0
    assert "All 5 orders would be filled as before" in page.text


def test_priority_decides_between_equal_prices(operator, acme, rival, shop, a_variant, pushed):
    for supplier in (acme, rival):
        a_variant(supplier, "LAN-1", stock=10, wholesale_price="5")
    pushed(shop, {"sku": "LAN-1", "quantity": 1})
    assert result(ask(operator, supplier=rival.pk, priority=1))["moved"] == 1


def test_more_safety_stock_sends_orders_elsewhere_once_stock_is_low(operator, past, acme):
    found = result(ask(operator, supplier=acme.pk, safety_stock=5))
    # The stock of Acme was 10, 8, 6 and 4. With five units held back, later orders find too few units.
    assert (found["changed"], found["moved"]) == (2, 2)


def test_a_simulation_writes_only_its_own_row(operator, past, acme):
    before = [[*model.objects.order_by("pk").values_list()] for model in (Event, Fulfillment, Supplier)]
    ask(operator, supplier=acme.pk, left_out="on")
    after = [[*model.objects.order_by("pk").values_list()] for model in (Event, Fulfillment, Supplier)]
    assert after == before


def test_a_simulation_covers_the_requested_days_and_number_of_orders(operator, past, acme, boutique):
    assert result(ask(operator, supplier=acme.pk, left_out="on", most=3))["orders"] == 3
    assert result(ask(operator, supplier=acme.pk, left_out="on", retailer=boutique.pk))["orders"] == 0
    old = [each.pk for each in RoutingDecision.objects.order_by("pk")[:2]]
    RoutingDecision.objects.filter(pk__in=old).update(decided_at=timezone.now() - timedelta(days=9))
    assert result(ask(operator, supplier=acme.pk, left_out="on"))["orders"] == 3


def test_orders_that_cannot_be_replayed_are_left_out_and_counted(operator, past, acme):
    decision = RoutingDecision.objects.earliest("pk")
    decision.lines[0]["candidates"][0]["available"] = 0
    decision.save()
    found = result(ask(operator, supplier=acme.pk, left_out="on"))
    assert (found["orders"], found["unlike"], found["changed"]) == (5, 1, 4)


def test_a_worker_continues_a_long_simulation_and_a_crash_loses_nothing(operator, past, acme, monkeypatch):
    monkeypatch.setattr(running, "PAGE", 2)
    monkeypatch.setattr(running, "AT_ONCE", -1)
    page = ask(operator, supplier=acme.pk, left_out="on")
    assert result(page)["orders"] == 2
    assert "2 orders simulated" in page.text
    simulation = RoutingSimulation.objects.get()
    assert RoutingSimulation.unfinished() == [simulation.pk]
    while not running.advance(simulation, seconds=-1):
        simulation.refresh_from_db()
    assert RoutingSimulation.unfinished() == []
    simulation.refresh_from_db()
    assert (simulation.result["orders"], simulation.percent) == (5, 100)


def test_a_simulation_can_be_stopped(operator, past, acme, monkeypatch):
    monkeypatch.setattr(running, "PAGE", 2)
    monkeypatch.setattr(running, "AT_ONCE", -1)
    ask(operator, supplier=acme.pk, left_out="on")
    simulation = RoutingSimulation.objects.get()
    operator.post(f"/admin/fulfillments/routingsimulation/{simulation.pk}/do/stop/")
    assert running.advance(simulation, seconds=10)
    simulation.refresh_from_db()
    assert simulation.finished_at
    assert simulation.looked_at < 5


def test_a_simulation_may_cover_all_days_of_the_calendar(operator, past, acme):
    page = ask(operator, supplier=acme.pk, left_out="on", first_day=date.min, last_day=date.max)
    assert result(page)["orders"] == 5
    assert RoutingSimulation.unfinished() == []


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({}, "Enter a priority or a safety stock"),
        ({"left_out": "on", "priority": "1"}, "Leave priority and safety stock empty"),
        ({"priority": "100"}, "has these values already"),
        (
            {"priority": "1", "first_day": "2031-01-02", "last_day": "2031-01-01"},
            "Must not be before the first day",
        ),
        ({"priority": "1", "most": "1000000"}, "less than or equal to 100000"),
    ],
)
def test_an_impossible_simulation_is_refused_with_the_reason(operator, acme, rule, message):
    assert message in ask(operator, supplier=acme.pk, **rule).text
    assert not RoutingSimulation.objects.exists()


def test_support_reads_simulations_and_starts_none(operator, support, past, acme):
    ask(operator, supplier=acme.pk, left_out="on")
    url = f"/admin/fulfillments/routingsimulation/{RoutingSimulation.objects.get().pk}/change/"
    assert "would be filled differently" in support.get(url).text
    assert support.get(ADD).status_code == 403

"""Bulk actions: they have a preview, change row after row, and are recorded with actor and reason."""

import csv
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import ApiKey, OperatorAction, Partnership
from accounts.operating import bulk_actions
from accounts.tasks import run_operator_action, sweep_operator_actions
from backoffice.groups import OPERATORS
from events.models import Event
from orders.change import OrderChange
from orders.models import Order
from tests.backoffice.conftest import choose, confirm, do, messages
from tests.factories import OrderFactory, StaffFactory


@pytest.fixture
def ended(order, fulfillment, client_for, acme):
    """Return an order whose units are all shipped."""
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "T"})
    return Order.objects.get(pk=order.pk)


@pytest.fixture
def going_on(shop, ended, pushed):
    return pushed(shop, {"sku": "LAN-1", "quantity": 1})


def results(client, page):
    """Download the file with the results, and return record, result and message of each row."""
    answer = client.get(f"{page.request['PATH_INFO']}results.csv")
    lines = b"".join(answer).decode("utf-8-sig").splitlines()
    return [(row["record"], row["result"], row["message"]) for row in csv.DictReader(lines)]


@pytest.fixture
def no_time(monkeypatch):
    """Let a request of the operator do only one row, or check only one page of rows.

    Workers do the other rows. Return the list of the actions for which a worker was woken.
    """
    monkeypatch.setattr(bulk_actions, "AT_ONCE", -1.0)
    monkeypatch.setattr(bulk_actions, "SLICE", -1.0)
    woken: list[int] = []
    monkeypatch.setattr(bulk_actions, "wake", woken.append)
    return woken


def test_the_preview_names_the_effects_and_the_exclusions(operator, ended, going_on):
    page = choose(operator, Order, "hold", [ended, going_on])

    assert "1 will be done; 1 left out." in page.text
    assert "A completed or canceled order cannot be held: no work is left." in page.text
    assert "These suppliers cannot work on the order until it is released: Acme." in page.text
    assert not Order.objects.filter(held=True).exists()


def test_a_completed_order_in_a_bulk_hold_is_not_held(operator, ended, client_for, shop):
    seen, events = client_for(shop).get("orders").json(), Event.objects.count()

    page = choose(operator, Order, "hold", [ended])
    assert "0 will be done; 1 left out." in page.text
    confirm(operator, page)

    assert client_for(shop).get("orders").json() == seen
    assert Event.objects.count() == events


def test_a_reason_is_required_and_shown_only_to_operators(operator, ended, going_on, client_for, shop):
    page = choose(operator, Order, "hold", [going_on])
    again = confirm(operator, page, reason=" ")
    assert "This field is required." in again.text
    assert not Order.objects.filter(held=True).exists()

    confirm(operator, page, reason="Looks like fraud")

    held = Event.objects.get(type="order.held")
    assert (held.actor, held.data["operator_reason"]) == ("user:olga", "Looks like fraud")
    assert "Looks like fraud" in operator.get(f"/admin/orders/order/{going_on.pk}/change/").text
    Event.publish()
    feed = client_for(shop).get("events", {"type": "order.held"}).json()["results"]
    assert [event["data"] for event in feed] == [{}]


def test_each_row_has_its_result_in_a_file(operator, ended, going_on):
    page = confirm(operator, choose(operator, Order, "hold", [ended, going_on]))

    assert "1 done; 1 left out." in page.text
    assert sorted(results(operator, page)) == sorted(
        [
            (str(going_on.pk), "done", f"Order {going_on.retailer_order_id} is held."),
            (
                str(ended.pk),
                "left out",
                "A completed or canceled order cannot be held: no work is left.",
            ),
        ]
    )


def test_an_action_is_undone_by_its_reverse_action(operator, ended, going_on):
    page = confirm(operator, choose(operator, Order, "hold", [going_on]))
    back = operator.post(f"{page.request['PATH_INFO']}undo/", follow=True)

    assert "1 will be done" in back.text
    confirm(operator, back)

    assert not Order.objects.filter(held=True).exists()
    assert OperatorAction.objects.get(undoes__action="hold").action == "release"


def test_an_undo_leaves_a_record_alone_that_a_colleague_has_changed_since(
    operator, colleague, ended, going_on
):
    page = confirm(operator, choose(operator, Order, "hold", [ended, going_on]))
    do(operator, going_on, "release")
    do(colleague, going_on, "hold", reason="Fraud")

    back = operator.post(f"{page.request['PATH_INFO']}undo/", follow=True)

    assert messages(back) == ["A later action has changed all of these records. Nothing is left to undo."]
    going_on.refresh_from_db()
    assert going_on.held


@pytest.mark.parametrize("undo", [True, False])
def test_the_undo_of_a_hold_keeps_the_time_limits_and_a_release_starts_them_again(operator, going_on, undo):
    late = timezone.now() - timedelta(hours=3)
    going_on.fulfillments.update(due_at=late, capture_due_at=late)
    Partnership.objects.update(hours_to_accept=4, hours_to_capture=4)

    page = confirm(operator, choose(operator, Order, "hold", [going_on]))
    path = f"{page.request['PATH_INFO']}undo/"
    back = operator.post(path, follow=True) if undo else choose(operator, Order, "release", [going_on])
    confirm(operator, back)

    work = going_on.fulfillments.get()
    assert not Order.objects.get(pk=going_on.pk).held
    assert ((work.due_at, work.capture_due_at) == (late, late)) is undo


def test_a_row_that_changed_after_the_preview_is_left_alone(operator, ended, going_on):
    page = choose(operator, Order, "hold", [going_on])
    do(operator, going_on, "hold")
    events = Event.objects.count()

    page = confirm(operator, page)

    assert "0 done; 1 already done. Nothing was changed." in page.text
    assert Event.objects.count() == events


def test_a_single_action_that_changes_nothing_says_so(operator, order):
    do(operator, order, "hold")
    assert messages(do(operator, order, "hold")) == ["The order is already held."]
    assert Event.objects.filter(type="order.held").count() == 1


def test_many_rows_are_done_once_even_if_workers_die(operator, shop, no_time, monkeypatch):
    OrderFactory.create_in_bulk(7, retailer=shop)
    monkeypatch.setattr(bulk_actions, "PAGE", 3)
    page = operator.post(
        "/admin/orders/order/?processing_state__exact=received",
        {"action": "hold", "_selected_action": [Order.objects.all()[0].pk], "select_across": "1"},
        follow=True,
    )
    chosen = OperatorAction.objects.get()
    assert (chosen.total, no_time) == (7, [chosen.pk])
    assert "Checked 3 of 7" in page.text
    assert "processing_state__exact=received" in page.text
    while not chosen.looked_at:
        run_operator_action(chosen.pk)
        chosen.refresh_from_db()

    page = confirm(operator, page)
    assert "1 of 7" in page.text
    OperatorAction.objects.update(lease_until="2099-01-01T00:00Z")  # a worker holds the lease
    run_operator_action(chosen.pk)
    assert Order.objects.filter(held=True).count() == 1
    OperatorAction.objects.update(lease_until=None)  # the worker died
    while OperatorAction.objects.filter(finished_at=None).exists():
        no_time.clear()
        sweep_operator_actions()
        [pk] = no_time
        run_operator_action(pk)

    assert Order.objects.filter(held=True).count() == 7
    assert Event.objects.filter(type="order.held").count() == 7
    assert chosen.counts()["done"] == 7


def test_an_internal_error_with_one_record_does_not_delay_other_records(operator, shop, monkeypatch):
    first, second = OrderFactory.create_in_bulk(2, retailer=shop)
    hold = OrderChange.record

    def faulty(change, *args, **fields):
        if change.order_id == first.pk:
            raise ZeroDivisionError
        hold(change, *args, **fields)

    monkeypatch.setattr(OrderChange, "record", faulty)
    page = confirm(operator, choose(operator, Order, "hold", [first, second]))

    (_, result, message), (_, other, _) = results(operator, page)
    assert (result, other) == ("could not be done", "done")
    assert message.startswith("The service failed. Its log has the details")
    assert [*Order.objects.filter(held=True)] == [second]


def test_the_remaining_rows_can_be_stopped(operator, shop, no_time):
    OrderFactory.create_in_bulk(4, retailer=shop)
    page = choose(operator, Order, "hold", list(Order.objects.all()))
    run_operator_action(OperatorAction.objects.get().pk)
    page = confirm(operator, page)
    page = operator.post(f"{page.request['PATH_INFO']}stop/", follow=True)

    assert "1 done; 3 not done because the action was stopped." in page.text
    assert page.text.count("Not done</span>") == 3
    run_operator_action(OperatorAction.objects.get().pk)
    assert Order.objects.filter(held=True).count() == 1


def test_a_dropped_action_cannot_be_confirmed(operator, ended, going_on):
    page = choose(operator, Order, "hold", [going_on])
    operator.post(f"{page.request['PATH_INFO']}stop/")
    page = confirm(operator, page)

    assert "This action was dropped. Nothing was changed." in page.text
    assert not Order.objects.filter(held=True).exists()


def test_confirming_twice_does_it_once(operator, ended, going_on):
    page = choose(operator, Order, "hold", [going_on])
    confirm(operator, page)
    confirm(operator, page, reason="Again")

    assert Event.objects.filter(type="order.held").count() == 1
    assert OperatorAction.objects.get().reason == "agreed by telephone"


def test_support_can_view_but_not_act(operator, support, ended, going_on):
    page = choose(operator, Order, "hold", [going_on])
    path = page.request["PATH_INFO"]

    assert "will be done" in support.get(path).text
    assert [support.post(f"{path}{name}/").status_code for name in ("confirm", "stop", "undo")] == [403] * 3
    assert not Order.objects.filter(held=True).exists()


@pytest.fixture
def colleague(db):
    """Return a browser with another operator, who has the same permissions."""
    client = Client()
    client.force_login(StaffFactory.create(username="carla", group=OPERATORS))
    return client


def test_only_the_operator_who_chose_an_action_can_confirm_it(operator, colleague, ended, going_on):
    page = choose(operator, Order, "hold", [going_on])
    page = confirm(colleague, page)

    assert messages(page) == ["user:olga chose this action, so only user:olga can confirm it."]
    assert not Order.objects.filter(held=True).exists()
    assert "<form method" not in colleague.get(page.request["PATH_INFO"]).text.partition("ui-effect")[2]

    confirm(operator, page)
    assert Event.objects.get(type="order.held").actor == "user:olga"


def test_an_action_keeps_who_confirmed_and_who_stopped_it(operator, colleague, shop, no_time):
    OrderFactory.create_in_bulk(3, retailer=shop)
    page = choose(operator, Order, "hold", list(Order.objects.all()))
    run_operator_action(OperatorAction.objects.get().pk)
    page = confirm(operator, page)
    page = colleague.post(f"{page.request['PATH_INFO']}stop/", follow=True)

    action = OperatorAction.objects.get()
    assert (action.actor, action.stopped_by) == ("user:olga", "user:carla")
    assert "Stopped by user:carla" in page.text


def test_an_undo_is_the_action_of_the_operator_who_undoes(operator, colleague, going_on):
    page = confirm(operator, choose(operator, Order, "hold", [going_on]))
    back = colleague.post(f"{page.request['PATH_INFO']}undo/", follow=True)
    confirm(colleague, back)

    assert Event.objects.get(type="order.released").actor == "user:carla"


@pytest.mark.parametrize("action", ["cancel", "route-again"])
def test_the_preview_of_more_rows_costs_no_more_queries(
    operator, shop, pushed, ended, client_for, acme, action, django_assert_max_num_queries
):
    for _ in range(6):
        work = pushed(shop, {"sku": "LAN-1", "quantity": 1}).fulfillments.get()
        if action == "route-again":
            client_for(acme).put(f"fulfillments/{work.pk}/setStatus/missing_sku")
            work.lines.get().variant.change({"listed": True}, by=Actor.system("test"))
    orders = list(Order.objects.exclude(pk=ended.pk))

    def asked(some):
        with django_assert_max_num_queries(60) as statements:
            choose(operator, Order, action, some)
        return len(statements)

    asked(orders[:2])
    # Measure twice and use the smaller number: a cached value may expire during a request, which costs a
    # query.
    assert min(asked(orders) for _ in range(2)) == min(asked(orders[:2]) for _ in range(2))


def test_a_row_whose_effect_changed_after_the_preview_is_left_unchanged(
    operator, shop, acme, ended, pushed, client_for
):
    same, other = (pushed(shop, {"sku": "LAN-1", "quantity": 2}) for _ in range(2))
    page = choose(operator, Order, "cancel", [same, other])
    work, supplier = other.fulfillments.get(), client_for(acme)
    parcel = {"tracking_number": "T-2", "lines": [{"id": work.lines.get().pk, "quantity": 1}]}
    supplier.put(f"fulfillments/{work.pk}/setStatus/accepted")
    assert supplier.put(f"fulfillments/{work.pk}/setStatus/shipped", parcel).status_code == 200

    page = confirm(operator, page)

    states = {order.pk: order.processing_state for order in Order.objects.all()}
    assert (states[same.pk], states[other.pk]) == ("canceling", "partially_shipped")
    [message] = [message for record, _, message in results(operator, page) if record == str(other.pk)]
    assert message.startswith("The record was changed after the preview, so nothing was done.")
    assert message.endswith(" now: 1 unit is requested from Acme, 1 unit is already shipped.")


def test_orders_are_held_although_their_suppliers_changed_after_the_preview(
    operator, shop, acme, rival, a_variant, pushed, client_for
):
    for supplier, sku in ((acme, "LAN-1"), (rival, "VASE")):
        a_variant(supplier, sku, stock=10)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 2}, {"sku": "VASE", "quantity": 1})
    page = choose(operator, Order, "hold", [order])
    work, supplier = order.fulfillments.get(supplier=rival), client_for(rival)
    supplier.put(f"fulfillments/{work.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{work.pk}/setStatus/shipped", {"tracking_number": "T-2"})

    confirm(operator, page)

    order.refresh_from_db()
    assert order.held


def test_a_key_that_is_used_after_the_preview_is_revoked(operator, acme):
    key, _ = ApiKey.issue(acme, "leaked")
    page = choose(operator, ApiKey, "revoke", [key])
    assert "It was never used." in page.text
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=timezone.now())

    confirm(operator, page)

    key.refresh_from_db()
    assert key.revoked_at


def test_too_many_rows_are_refused_with_the_remedy(operator, shop, monkeypatch):
    OrderFactory.create_in_bulk(3, retailer=shop)
    monkeypatch.setattr(bulk_actions, "MOST", 2)
    page = choose(operator, Order, "hold", list(Order.objects.all()))

    assert messages(page) == ["More than 2 rows are chosen. Filter the list first."]
    assert not OperatorAction.objects.exists()


def test_a_spreadsheet_evaluates_no_formula_of_a_cell(operator, shop):
    order = OrderFactory.create(retailer=shop, retailer_order_id="=1+1")
    page = choose(operator, Order, "hold", [order])
    answer = operator.get(f"{page.request['PATH_INFO']}results.csv")
    assert b"'=1+1" in b"".join(answer)

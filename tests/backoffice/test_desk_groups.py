"""The desk with its rows grouped by party and kind, and actions on all rows of a group."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import OperatorAction
from fulfillments.models import Fulfillment
from tests.factories import ContactFactory, StaffFactory, set_stock

DESK = "/admin/desk/"
GROUPS = {"by": "party"}


@pytest.fixture
def wrong(acme, rival, shop, a_variant, pushed, client_for):
    """Create three orders at Acme and one order at Rival, each with a wrong address."""

    def make(supplier, sku, quantity):
        order = pushed(shop, {"sku": sku, "quantity": quantity, "billed_amount": 10})
        client_for(supplier).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/wrong_address")
        return order

    a_variant(acme, "LAN-1", stock=100, wholesale_price=4)
    a_variant(rival, "MUG-1", stock=100, wholesale_price=50)
    set_stock(on_hand=100)
    return [make(acme, "LAN-1", 1), make(acme, "LAN-1", 2), make(acme, "LAN-1", 3), make(rival, "MUG-1", 2)]


def shown(client, **asked):
    groups = client.get(DESK, {**GROUPS, **asked}).context["groups"]
    return [(group.name, group.kind.name, group.count, group.money) for group in groups]


def test_rows_are_grouped_by_party_and_kind_with_their_money(operator, wrong):
    currency = wrong[0].currency
    acme = ("Acme", "address", 3, [(Decimal(24), currency)])
    rival = ("Rival", "address", 1, [(Decimal(100), currency)])
    assert sorted(shown(operator), key=str) == [acme, rival]
    assert shown(operator, sort="rows") == [acme, rival]
    assert shown(operator, sort="amount") == [rival, acme]
    assert shown(operator, sort="nonsense", supplier=wrong[0].fulfillments.get().supplier_id) == [acme]


def test_a_group_leads_to_its_rows_and_to_a_message(operator, wrong):
    page = operator.get(DESK, {**GROUPS, "sort": "rows"})
    group = page.context["groups"][0]
    assert len(operator.get(f"{DESK}?{group.query}").context["items"]) == 3
    assert f"{DESK}?{group.query}".replace("&", "&amp;") in page.text.replace('href="', f'href="{DESK}')
    ContactFactory.create(supplier=group.party, name="Ann")
    message = operator.get(group.message_action.url)
    assert "problem=3+%C3%97+wrong+address" in group.message_action.url
    assert "Ann" in message.text


def test_a_message_is_offered_only_to_those_who_may_open_its_form(client, wrong):
    client.force_login(StaffFactory.create(group="Order desk"))
    page = client.get(DESK, GROUPS)

    assert page.context["groups"]
    assert "Write message" not in page.text


def test_an_action_on_a_group_previews_all_its_rows_but_the_snoozed_ones(operator, wrong):
    asleep = wrong[0].fulfillments.get()
    note = {"model": "fulfillments.fulfillment", "record_id": asleep.pk, "snooze_hours": 4}
    operator.post(f"{DESK}note/", note)
    group = operator.get(DESK, {**GROUPS, "sort": "rows"}).context["groups"][0]
    assert group.count == 2
    act = {"action": "give-up", "select_across": "1"}
    assert "give-up" in [action.name for action in group.actions]
    page = operator.post(f"{DESK}group/?{group.query}", act, follow=True)
    assert "Cancel" in page.text
    [chosen] = OperatorAction.objects.all()
    assert sorted(chosen.rows.values_list("record_id", flat=True)) == [
        order.fulfillments.get().pk for order in wrong[1:3]
    ]
    assert Fulfillment.objects.filter(state="wrong_address").count() == 4, (
        "nothing may change before the confirmation"
    )


def test_an_action_on_a_group_that_no_record_can_match_has_nothing_to_confirm(operator, shop):
    act = {"action": "approve", "select_across": "1"}
    page = operator.post(f"{DESK}group/?kind=approval&retailer={shop.pk}", act, follow=True)
    assert page.status_code == 200
    assert page.context["counts"]["possible"] == 0


@pytest.mark.parametrize(
    ("query", "action", "status"),
    [("kind=nothing", "give-up", 404), ("kind=address", "ship", 403), ("kind=part", "taken-away", 403)],
)
def test_an_unknown_group_or_action_is_refused(operator, query, action, status):
    assert operator.post(f"{DESK}group/?{query}", {"action": action}).status_code == status


def test_a_group_of_a_reader_has_no_actions(support, wrong):
    assert "Act on all" not in support.get(DESK, GROUPS).text
    assert support.post(f"{DESK}group/?kind=address", {"action": "give-up"}).status_code == 403


def test_groups_take_the_same_queries_for_any_rows(operator, wrong, shop, pushed, acme, client_for):
    def asked():
        with CaptureQueriesContext(connection) as statements:
            operator.get(DESK, GROUPS)
        return len(statements)

    few = asked()
    order = pushed(shop, {"sku": "LAN-1", "quantity": 4})
    client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/wrong_address")
    assert asked() == few


def chosen_by_group(client, **asked):
    """Choose all rows of the only group for an action, and return their ids."""
    [group] = client.get(DESK, {**GROUPS, **asked}).context["groups"]
    client.post(f"{DESK}group/?{group.query}", {"action": "give-up", "select_across": "1"})
    return group, set(OperatorAction.objects.get().rows.values_list("record_id", flat=True))


def test_a_group_keeps_the_filters_of_the_page(operator, wrong, boutique, rival, pushed, client_for):
    work = pushed(boutique, {"sku": "MUG-1", "quantity": 1}).fulfillments.get()
    client_for(rival).put(f"fulfillments/{work.pk}/setStatus/wrong_address")

    group, chosen = chosen_by_group(operator, retailer=boutique.pk, hours="nonsense")

    assert (group.name, group.count, chosen) == ("Rival", 1, {work.pk})
    listed = operator.get(f"{DESK}?{group.query}").context["items"]
    assert [item.record.pk for item in listed] == [work.pk]


def test_an_action_on_a_group_of_snoozed_rows_is_about_these_rows(operator, wrong):
    work = [order.fulfillments.get().pk for order in wrong]
    note = {"model": "fulfillments.fulfillment", "record_id": work[0], "snooze_hours": 4}
    operator.post(f"{DESK}note/", note)

    group, chosen = chosen_by_group(operator, taken="snoozed")

    assert (group.count, chosen) == (1, {work[0]})

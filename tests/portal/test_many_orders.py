"""A clerk accepts many orders at once, saves views, and exports exactly the list that is shown."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.member_roles import MemberRole
from accounts.models import OperatorAction, SavedView
from accounts.operating import bulk_actions
from accounts.tasks import run_operator_action
from events.models import Event
from fulfillments.models import Fulfillment
from tests.portal.conftest import browser_of, said

LIST = "/portal/orders/"


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    """Push three orders of lamps; return their new fulfillments."""
    a_variant(acme, "LAMP", stock=10, title="Brass lamp")
    return [pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get() for _ in range(3)]


def states(work):
    ids = [each.pk for each in work]
    return [*Fulfillment.objects.filter(pk__in=ids).order_by("pk").values_list("state", flat=True)]


def accept_all(client, **fields):
    return client.post(f"{LIST}?tab=new", {"do": "accept", "all": "1", **fields}, follow=True)


def test_all_new_orders_are_accepted_after_a_preview_by_the_member(ana, owner, work):
    preview = accept_all(ana)
    text = preview.content.decode()
    assert "3 of 3 can be done." in text
    assert "You will ship 1 × LAMP from Acme East." in text
    assert work[0].order.retailer_order_id in text
    assert states(work) == ["new"] * 3

    page = preview.redirect_chain[-1][0]
    assert "3 done" in ana.post(page, follow=True).content.decode()
    assert states(work) == ["accepted"] * 3
    assert {event.actor for event in Event.objects.filter(type="fulfillment.accepted")} == {owner.actor_name}

    ana.post(page)
    assert Event.objects.filter(type="fulfillment.accepted").count() == 3


def test_chosen_orders_are_accepted_and_impossible_ones_left_out_with_the_reason(ana, work, client_for, acme):
    client_for(acme).put(f"fulfillments/{work[0].pk}/setStatus/out_of_stock")
    chosen = {"do": "accept", "chosen": [work[0].pk, work[1].pk]}
    preview = ana.post(LIST, chosen, follow=True)

    assert "1 of 2 can be done." in preview.content.decode()
    assert "1 left out:" in preview.content.decode()
    ana.post(preview.redirect_chain[-1][0])
    assert states(work)[1:] == ["accepted", "new"]


def test_without_chosen_orders_the_list_asks_to_choose_some(ana, work):
    sent = ana.post(f"{LIST}?tab=new", {"do": "accept"}, follow=True)
    assert said(sent) == ["Nothing was done: choose orders first."]
    assert sent.redirect_chain[-1][0] == f"{LIST}?tab=new"
    assert states(work) == ["new"] * 3


def test_too_many_chosen_orders_are_refused_with_the_limit(ana, work, monkeypatch):
    monkeypatch.setattr(bulk_actions, "MOST", 2)
    assert said(accept_all(ana)) == ["More than 2 orders are chosen. Filter the list first."]
    assert not OperatorAction.objects.exists()


def test_a_worker_continues_as_the_member(ana, owner, work, monkeypatch):
    page = accept_all(ana).redirect_chain[-1][0]
    monkeypatch.setattr(bulk_actions, "AT_ONCE", -1)
    ana.post(page)
    while OperatorAction.objects.filter(finished_at=None).exists():
        run_operator_action(OperatorAction.objects.get().pk)

    assert states(work) == ["accepted"] * 3
    assert {event.actor for event in Event.objects.filter(type="fulfillment.accepted")} == {owner.actor_name}


def test_orders_of_others_are_never_chosen(ana, acme, rival, shop, a_variant, pushed, work):
    a_variant(rival, "CHAIR", stock=5)
    foreign = pushed(shop, {"sku": "CHAIR", "quantity": 1}).fulfillments.get()

    page = ana.post(LIST, {"do": "accept", "chosen": [foreign.pk]}, follow=True)
    assert "Nothing was done" in said(page)[0]
    accept_all(ana)
    assert foreign.pk not in OperatorAction.objects.get(total=3).rows.values_list("record_id", flat=True)


def test_only_the_chooser_confirms_and_an_unknown_action_does_nothing(ana, acme, member_of, work):
    page = accept_all(ana).redirect_chain[-1][0]
    colleague = browser_of(member_of(acme, MemberRole.ORDERS))
    assert "A colleague chose these" in said(colleague.post(page, follow=True))[0]
    assert states(work) == ["new"] * 3

    assert "Nothing was done" in said(accept_all(ana, do="hold"))[0]
    ana.post(page, {"drop": "1"})
    ana.post(page)
    assert states(work) == ["new"] * 3


def test_a_file_has_the_shown_rows_and_columns(ana, work):
    answer = ana.get(LIST, {"tab": "new", "columns": ["order", "items", "actions"], "file": "csv"})
    rows = [*csv.reader(io.StringIO(answer.getvalue().decode("utf-8-sig")))]
    assert rows[0] == ["Order", "Items"]
    assert rows[1:] == [[each.order.retailer_order_id, "1 × Brass lamp"] for each in reversed(work)]
    assert [*csv.reader(io.StringIO(ana.get(f"{LIST}?tab=late&file=csv").getvalue().decode()))][1:] == []


def test_a_file_has_the_first_column_if_no_shown_column_is_for_files(ana, work):
    answer = ana.get(LIST, {"tab": "new", "columns": "actions", "file": "csv"})
    rows = [*csv.reader(io.StringIO(answer.getvalue().decode("utf-8-sig")))]
    assert rows == [["Order"], *([each.order.retailer_order_id] for each in reversed(work))]


def test_views_are_saved_for_oneself_or_the_team_by_any_role(ana, acme, rival, member_of, work):
    query = "columns=order&tab=new"
    page = ana.post(LIST, {"query": query, "name": "Fresh", "shared": "on"}, follow=True)
    assert said(page) == ["View Fresh saved for your team."]
    assert page.redirect_chain[-1][0] == f"{LIST}?{query}"

    viewer = browser_of(member_of(acme, MemberRole.VIEWER))
    assert ">Fresh</a>" in viewer.get(LIST).content.decode()
    assert ">Fresh</a>" not in browser_of(member_of(rival)).get(LIST).content.decode()
    viewer.post(LIST, {"query": query, "name": "Mine"})
    assert ">Mine</a>" not in ana.get(LIST).content.decode()
    assert SavedView.objects.count() == 2


def test_the_list_takes_the_same_queries_for_one_order_and_for_many(ana, acme, shop, work, pushed):
    def count_queries():
        ana.get(LIST)
        with CaptureQueriesContext(connection) as captured:
            ana.get(LIST)
        return len(captured)

    few = count_queries()
    for _ in range(4):
        pushed(shop, {"sku": "LAMP", "quantity": 1})
    assert count_queries() == few

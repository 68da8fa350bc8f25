"""Bulk actions that cannot be undone ask for the number of rows, and can be stopped before the start."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.contrib import admin

from accounts.models import OperatorAction
from accounts.operating.final_actions import WAIT
from accounts.tasks import run_operator_action
from backoffice.groups import OPERATORS
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.backoffice.conftest import choose, confirm, do, started


@pytest.fixture
def preview(operator, acme, shop, a_variant, pushed):
    """Return the preview of a cancellation of two orders, with amounts of 15 and 30."""
    a_variant(acme, "LAN-1", stock=50, wholesale_price="7.5")
    orders = [pushed(shop, {"sku": "LAN-1", "quantity": quantity}) for quantity in (2, 4)]
    return choose(operator, Order, "cancel", orders)


def path_of(page) -> str:
    path: str = page.request["PATH_INFO"]
    return path


def send(client, page, rows: str):
    return client.post(f"{path_of(page)}confirm/", {"reason": "Fraud", "rows": rows}, follow=True)


def untouched() -> bool:
    return not Order.objects.exclude(processing_state="received").exists()


def test_the_preview_shows_the_money(preview):
    assert "45.00\xa0USD" in preview.text
    assert "Type 2 to confirm" in preview.text


@pytest.mark.parametrize("typed", ["", "3", "two"])
def test_a_wrong_number_confirms_nothing(operator, preview, typed):
    page = send(operator, preview, typed)
    assert "This action changes 2 rows and cannot be undone. Type 2 to confirm it." in page.text
    assert OperatorAction.objects.get().confirmed_at is None


def test_a_confirmed_action_waits_and_can_be_stopped_before_the_first_row(operator, preview):
    page = send(operator, preview, "2")
    action = OperatorAction.objects.get()
    assert action.starts_at is not None
    assert action.confirmed_at is not None
    assert action.starts_at - action.confirmed_at >= WAIT * 0.9
    [seconds] = re.findall(r"Starts in (\d+) seconds", page.text)
    assert 25 <= int(seconds) <= 30
    run_operator_action(action.pk)
    assert untouched()

    page = operator.post(f"{path_of(page)}stop/", follow=True)
    assert "0 done; 2 not done because the action was stopped. Nothing was changed." in page.text
    assert started(operator, path_of(page)) is None
    assert untouched()


def test_a_confirmed_action_starts_after_the_wait(operator, preview):
    assert "2 done." in confirm(operator, preview).text
    assert not untouched()


def test_one_row_needs_no_number(operator, order):
    page = choose(operator, Order, "cancel", [order])
    assert "to confirm" not in page.text
    assert "1 done." in send(operator, page, "").text


def test_every_bulk_action_that_cannot_be_undone_is_final():
    admins = admin.site._registry.values()
    actions = [action for each in admins for action in getattr(each, "all_actions", ()) if action.bulk]
    unsafe = {each.name for each in actions if not each.is_final and "annot be undone" in each.undo}

    assert unsafe == set()


FINAL = {
    "reject-out-of-stock": None,
    "reject-missing-sku": None,
    "approve-cancelation": "request-cancelation",
    "give-up": "reject-wrong-address",
}
"""The final actions on fulfillments, and the action that makes each of them possible."""


@pytest.fixture
def work_of(operator, acme, shop, a_variant, pushed, settings):
    """Return a function that creates two fulfillments of 15 USD on which an action is possible."""
    settings.SECOND_OPERATOR_LIMITS = {OPERATORS: 1}
    a_variant(acme, "LAN-1", stock=50, wholesale_price="7.5")

    def make(action: str) -> list[Fulfillment]:
        for _ in range(2):
            work = pushed(shop, {"sku": "LAN-1", "quantity": 2}).fulfillments.get()
            if first := FINAL[action]:
                do(operator, work, first)
        return list(Fulfillment.objects.order_by("pk"))

    return make


@pytest.mark.parametrize("action", FINAL)
def test_many_fulfillments_need_the_typed_number_and_a_second_operator(operator, work_of, action):
    works = work_of(action)
    page = choose(operator, Fulfillment, action, works)
    assert "30.00\xa0USD" in page.text

    assert "Type 2 to confirm it." in send(operator, page, "").text
    assert "Another operator has to approve it" in confirm(operator, page).text

    assert [(work.pk, work.state) for work in Fulfillment.objects.order_by("pk")] == [
        (work.pk, work.state) for work in works
    ]


def test_the_preview_counts_only_the_units_that_the_action_cancels(
    operator, client_for, acme, shop, a_variant, pushed
):
    a_variant(acme, "LAN-1", stock=50, wholesale_price="7.5")
    requested, refused = (pushed(shop, {"sku": "LAN-1", "quantity": 3}) for _ in range(2))
    line = requested.lines.get().pk
    client_for(shop).post(f"orders/{requested.pk}/cancel", {"lines": [{"id": line, "quantity": 1}]})
    work = refused.fulfillments.get()
    element = {"id": work.pk, "rejectId": "R-1", "items": [{"sku": "LAN-1", "quantity": 2}]}
    client_for(acme).post("fulfillments/rejections", [element])

    approve = choose(operator, Fulfillment, "approve-cancelation", [requested.fulfillments.get()])
    drop = choose(operator, Order, "drop-refused", [refused])

    assert approve.context["amounts"] == [(Decimal("7.5"), "USD")]
    assert drop.context["amounts"] == [(Decimal("15"), "USD")]


@pytest.mark.parametrize("action", FINAL)
def test_one_fulfillment_is_changed_at_once(operator, work_of, action):
    one, other = work_of(action)

    assert "1 done." in send(operator, choose(operator, Fulfillment, action, [one]), "").text
    do(operator, other, action)

    assert not Fulfillment.objects.filter(state=one.state).exists()

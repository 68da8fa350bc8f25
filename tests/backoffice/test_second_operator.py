"""Bulk actions that wait for the approval of a second operator, if a setting requires it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey, OperatorAction
from accounts.operating import bulk_actions
from accounts.operating.second_operator import SHOWN, check_names, waiting_for
from backoffice.groups import OPERATORS, check_limits
from catalog.models import Variant
from events.models import Event
from orders.models import Order
from tests.backoffice.conftest import choose, confirm, do, messages, started
from tests.factories import OperatorActionFactory, StaffFactory


@pytest.fixture(autouse=True)
def _two_for_revoking(settings) -> None:
    settings.SECOND_OPERATOR_ACTIONS = ["revoke"]


@pytest.fixture
def keys(acme, rival) -> list[ApiKey]:
    return [ApiKey.issue(party, "ERP")[0] for party in (acme, rival)]


@pytest.fixture
def second(db) -> Client:
    client = Client()
    client.force_login(StaffFactory.create(username="bert", group=OPERATORS))
    return client


def path_of(page) -> str:
    path: str = page.request["PATH_INFO"]
    return path


def test_a_confirmed_action_runs_after_a_second_operator_approves(operator, second, keys, acme, client_for):
    page = choose(operator, ApiKey, "revoke", keys)
    assert "A second operator has to approve this action" in page.text
    page = confirm(operator, page)

    assert "Another operator has to approve it within a week." in page.text
    assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()
    assert "Actions that need a second operator" not in operator.get("/admin/").text
    assert path_of(page) in second.get("/admin/").text
    assert "agreed by telephone" in second.get(path_of(page)).text

    second.post(f"{path_of(page)}approve/")
    page = started(second, path_of(page))

    assert "2 done." in page.text
    assert "By user:olga, approved by user:bert," in page.text
    event = Event.objects.filter(type="api_key.revoked").latest("pk")
    assert (event.actor, event.data["approved_by"]) == ("user:olga", "user:bert")
    for filters in ({}, {"person": "olga"}, {"person": "bert"}):
        assert "olga, approved by bert" in operator.get("/admin/activity/", filters).text


def test_an_undo_compares_the_confirmations_of_actions_that_waited_for_an_approval(
    operator, second, acme, a_variant, settings
):
    settings.SECOND_OPERATOR_ACTIONS = ["delist"]
    variants = [a_variant(acme, sku) for sku in ("LAN-1", "LAN-2")]
    waiting = confirm(operator, choose(operator, Variant, "delist", variants))
    earlier = confirm(second, choose(second, Variant, "delist", variants[:1]))
    do(second, variants[0], "list-again")

    second.post(f"{path_of(waiting)}approve/")

    assert "2 will be done" in operator.post(f"{path_of(waiting)}undo/", follow=True).text
    undone = second.post(f"{path_of(earlier)}undo/", follow=True)
    assert messages(undone) == ["A later action has changed all of these records. Nothing is left to undo."]


def test_an_action_that_waits_for_an_approval_has_nothing_to_undo(operator, acme, a_variant, settings):
    settings.SECOND_OPERATOR_ACTIONS = ["delist"]
    variants = [a_variant(acme, sku) for sku in ("LAN-1", "LAN-2")]
    page = confirm(operator, choose(operator, Variant, "delist", variants))

    assert messages(operator.post(f"{path_of(page)}undo/", follow=True)) == ["Nothing is left to undo."]


def test_the_operator_who_chose_an_action_cannot_approve_it(operator, keys):
    page = confirm(operator, choose(operator, ApiKey, "revoke", keys))

    answer = operator.post(f"{path_of(page)}approve/", follow=True)
    assert messages(answer) == ["You chose this action, so another operator has to approve it."]
    confirm(operator, page)
    assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()


def test_the_second_operator_refuses(operator, second, keys):
    page = confirm(operator, choose(operator, ApiKey, "revoke", keys))

    page = second.post(f"{path_of(page)}stop/", follow=True)

    assert "refused by" in page.text
    assert "user:bert" in page.text
    second.post(f"{path_of(page)}approve/")
    assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()


def test_an_unconfirmed_action_cannot_be_approved(operator, second, keys):
    page = choose(operator, ApiKey, "revoke", keys)

    second.post(f"{path_of(page)}approve/")
    assert OperatorAction.objects.get().confirmed_at is None


def test_an_operator_who_may_only_view_cannot_approve(operator, support, keys):
    page = confirm(operator, choose(operator, ApiKey, "revoke", keys))

    assert support.post(f"{path_of(page)}approve/").status_code == 403
    assert path_of(page) not in support.get("/admin/").text


def test_older_requests_that_an_operator_may_not_approve_hide_no_other(operator, acme, keys):
    confirm(operator, choose(operator, ApiKey, "revoke", keys))
    request = OperatorAction.objects.get()
    moment = timezone.now() - timedelta(days=1)
    others = {"model": "orders.order", "confirmed_at": None, "requested_at": moment, "total": 2}
    for _ in range(SHOWN):
        OperatorActionFactory.create(actor="user:olga", **others)
    partner_desk = StaffFactory.create(username="pat", group="Partner desk")

    assert waiting_for(partner_desk) == [request]


def test_fewer_rows_than_the_setting_need_no_second_operator(operator, keys):
    page = confirm(operator, choose(operator, ApiKey, "revoke", keys[:1]))
    assert "1 done." in page.text


def test_other_actions_need_no_second_operator(operator, keys, settings):
    settings.SECOND_OPERATOR_ACTIONS = ["erase"]
    page = confirm(operator, choose(operator, ApiKey, "revoke", keys))
    assert "2 done." in page.text


def test_a_request_is_kept_for_a_week(operator, keys):
    confirm(operator, choose(operator, ApiKey, "revoke", keys))
    for age, kept in ((6, True), (8, False)):
        moment = timezone.now() - timedelta(days=age)
        OperatorAction.objects.update(created_at=moment, requested_at=moment)
        bulk_actions.unfinished()
        assert OperatorAction.objects.exists() == kept


def test_a_misspelled_action_in_the_setting_is_reported_at_the_start(settings):
    assert check_names() == []
    settings.SECOND_OPERATOR_ACTIONS = ["erase", "revok"]
    (error,) = check_names()
    assert "'revok' is no bulk action. Use one of:" in error.msg


def test_a_misspelled_group_in_the_setting_is_reported_at_the_start(settings):
    assert check_limits() == []
    settings.SECOND_OPERATOR_LIMITS = {"Catalog desk": 5, "order desk": 5, "Night shift": 5}
    assert [warning.msg for warning in check_limits()] == [
        "SECOND_OPERATOR_LIMITS: 'Catalog desk' is not a group. Did you mean 'Catalogue desk'?",
        "SECOND_OPERATOR_LIMITS: 'order desk' is not a group. Did you mean 'Order desk'?",
    ]


@pytest.mark.parametrize(("limit", "asks"), [(1, True), (2, False)])
def test_a_role_has_a_limit_for_actions_that_cannot_be_undone(operator, keys, settings, limit, asks):
    settings.SECOND_OPERATOR_ACTIONS = []
    settings.SECOND_OPERATOR_LIMITS = {OPERATORS: limit, "Partner desk": 50}
    page = confirm(operator, choose(operator, ApiKey, "revoke", keys))
    assert ("Another operator has to approve it" in page.text) is asks
    assert ApiKey.objects.filter(revoked_at__isnull=False).exists() is not asks


def test_an_action_that_can_be_undone_has_no_limit(operator, order, settings):
    settings.SECOND_OPERATOR_LIMITS = {OPERATORS: 0}
    assert "1 done." in confirm(operator, choose(operator, Order, "hold", [order])).text

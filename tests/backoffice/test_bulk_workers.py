"""Bulk actions in workers: few statements per row, and each row once despite crashes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import OperatorAction, OperatorActionRow
from accounts.operating import bulk_actions, operator_actions
from accounts.tasks import run_operator_action
from events.models import Event
from orders.models import Order
from tests.backoffice.conftest import choose, confirm
from tests.factories import OrderFactory


@pytest.fixture(autouse=True)
def time_enough(monkeypatch):
    monkeypatch.setattr(bulk_actions, "SLICE", 3600.0)


@pytest.fixture
def begin(operator, shop, monkeypatch):
    """Return a function that confirms a hold of some new orders, and leaves all rows to a worker."""

    def begin(count: int) -> OperatorAction:
        orders = OrderFactory.create_in_bulk(count, retailer=shop)
        with monkeypatch.context() as nobody:
            page = choose(operator, Order, "hold", orders)
            nobody.setattr(bulk_actions, "advance", lambda *_, **__: False)
            nobody.setattr(bulk_actions, "wake", lambda _: None)
            confirm(operator, page)
        return OperatorAction.objects.latest("pk")

    return begin


@pytest.fixture
def before_keeping(monkeypatch):
    """Return a function that sets a callback.

    The callback runs after the change of a row and before its result is stored, in the same transaction.
    """
    perform = operator_actions.perform

    def happen(what):
        def performed(action, record, actor, answers, keep):
            def kept(result, message):
                what(record)
                keep(result, message)

            return perform(action, record, actor, answers, kept)

        monkeypatch.setattr(bulk_actions, "perform", performed)

    return happen


@pytest.fixture
def before_doing(monkeypatch):
    """Return a function that sets a callback. It runs after a row was read and before it is changed."""
    perform = operator_actions.perform

    def happen(what):
        def performed(action, record, actor, answers, keep):
            what(record)
            return perform(action, record, actor, answers, keep)

        monkeypatch.setattr(bulk_actions, "perform", performed)

    return happen


def held():
    """Return the number of held orders, and the number of events of a hold."""
    return Order.objects.filter(held=True).count(), Event.objects.filter(type="order.held").count()


def test_each_of_some_hundred_rows_costs_few_statements(begin):
    def statements(count):
        action = begin(count)
        with CaptureQueriesContext(connection) as sent:
            run_operator_action(action.pk)
        assert OperatorAction.objects.get(pk=action.pk).counts()["done"] == count
        return len(sent)

    few, many = statements(50), statements(200)

    # A row costs its lock, change, derived state, event, stamp and result, and three savepoints.
    assert (many - few) / 150 <= 13


def test_the_next_worker_does_the_rest_of_a_killed_worker_once(begin, before_keeping):
    action = begin(5)

    def die_at_the_third(record):
        if held()[0] == 3:
            raise SystemExit

    before_keeping(die_at_the_third)
    with pytest.raises(SystemExit):
        run_operator_action(action.pk)
    assert held() == (2, 2)
    assert action.counts()["left"] == 3

    before_keeping(lambda record: None)
    run_operator_action(action.pk)

    assert held() == (5, 5)
    assert action.counts()["done"] == 5


def test_a_row_that_another_worker_has_just_done_is_not_done_again(begin, before_doing):
    action = begin(3)
    first = OperatorActionRow.objects.filter(action=action).order_by("id")[0]
    before_doing(lambda record: OperatorActionRow.objects.filter(pk=first.pk).update(result="refused"))

    run_operator_action(action.pk)

    assert not Order.objects.get(pk=first.record_id).held
    assert held() == (2, 2)
    assert action.counts()["refused"] == 1


def test_a_row_that_was_read_before_the_stop_is_not_done(begin, before_doing):
    action = begin(3)

    def stop_at_the_second(record):
        if held()[0] == 1:
            OperatorAction.objects.update(stopped_at=timezone.now())

    before_doing(stop_at_the_second)
    run_operator_action(action.pk)

    assert held() == (1, 1)
    assert OperatorAction.objects.get(pk=action.pk).finished_at


def test_each_unfinished_action_gets_a_turn_after_a_few_seconds_of_another_one(begin, monkeypatch):
    monkeypatch.setattr(bulk_actions, "SLICE", -1.0)  # one row for each turn
    woken: list[int] = []
    monkeypatch.setattr(bulk_actions, "wake", woken.append)
    long, short = begin(4), begin(1)

    turns = [long.pk]
    while len(turns) < 5:
        run_operator_action(turns[-1])
        turns.append(woken[-1])

    assert turns == [long.pk, short.pk, long.pk, short.pk, long.pk]
    assert (long.counts()["done"], short.counts()["done"]) == (2, 1)

"""Locked rows: a request waits briefly, changes nothing, and delays no other party."""

from __future__ import annotations

import time

import pytest
from django.db import InternalError, connection, transaction
from django.test import Client

from api.errors import database_error
from config import database
from events.models import Event
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from orders.models import Order, RetailerClock
from tests.faults.held_rows import held
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]


@pytest.fixture
def _as_web():
    """Give our connections the limits of a web process."""
    connection.close()
    database.limit_connections("web")
    yield
    connection.close()
    database.limit_connections("command")


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


@pytest.fixture
def _impatient(_as_web):
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '200ms'")


@pytest.mark.parametrize(
    ("kind", "lock", "statement", "idle"),
    [("web", "5s", "30s", "30s"), ("worker", "1min", "1h", "1min"), ("command", "30s", "0", "5min")],
)
@pytest.mark.usefixtures("_as_web")
def test_each_connection_has_the_limits_of_its_kind_of_process(kind, lock, statement, idle):
    database.limit_connections(kind)

    assert setting("lock_timeout") == lock
    assert setting("statement_timeout") == statement
    assert setting("idle_in_transaction_session_timeout") == idle
    assert setting("tcp_keepalives_idle") == "15"


def test_options_in_the_database_url_override_ours():
    options = database.connection_options({"options": "-c lock_timeout=9s", "connect_timeout": 60})

    assert options["connect_timeout"] == 60
    assert options["options"].endswith("-c lock_timeout=9s")


@pytest.mark.usefixtures("_impatient")
def test_a_push_that_waits_too_long_for_a_lock_is_busy_and_changes_nothing(acme, shop, client_for, a_variant):
    a_variant(acme, "A-1", stock=5)
    retailer, body = client_for(shop), an_order({"sku": "A-1", "quantity": 2})
    retailer.post("orders", an_order({"sku": "A-1", "quantity": 1}))
    events = Event.objects.count()

    with held(RetailerClock.objects.filter(retailer=shop)):
        answer = retailer.post("orders", body, Idempotency_Key="once")

    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert int(answer.headers["Retry-After"]) > 0
    assert (Order.objects.count(), Event.objects.count()) == (1, events)
    assert StockLevel.objects.get(on_hand__gt=0).reserved == 1
    assert retailer.post("orders", body, Idempotency_Key="once").json()["code"] == "order_created"


@pytest.mark.usefixtures("_impatient")
def test_a_status_update_that_waits_too_long_is_busy_and_can_be_repeated(acme, shop, client_for, a_variant):
    a_variant(acme, "A-1", stock=5)
    client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 2}))
    supplier, path = client_for(acme), f"fulfillments/{Fulfillment.objects.get().pk}/setStatus/accepted"

    with held(Order.objects.all()):
        assert supplier.put(path).json()["code"] == "busy"

    assert Fulfillment.objects.get().state == "new"
    assert supplier.put(path).json()["code"] == "accepted"


@pytest.mark.usefixtures("_impatient")
def test_another_partys_orders_are_placed_while_one_partys_rows_are_held(
    acme, rival, shop, boutique, client_for, a_variant
):
    a_variant(acme, "A-1", stock=5)
    a_variant(rival, "R-1", stock=5)
    client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 1}))

    with held(RetailerClock.objects.filter(retailer=shop)):
        answer = client_for(boutique).post("orders", an_order({"sku": "R-1", "quantity": 1}))
        assert answer.json()["code"] == "order_created"


@pytest.mark.usefixtures("_as_web")
def test_an_idle_transaction_is_ended_and_its_locks_are_released():
    with pytest.raises(InternalError) as ended, transaction.atomic(), connection.cursor() as cursor:  # noqa: PT012
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '100ms'")
        cursor.execute("SELECT 1")
        wait_until_ended(cursor)
        cursor.execute("SELECT 1")

    assert database_error(ended.value).code == "busy"


def wait_until_ended(cursor) -> None:
    """Wait until the server has ended our session."""
    cursor.execute("SELECT pg_backend_pid()")
    (pid,) = cursor.fetchone()
    other = connection.copy()
    try:
        for _ in range(100):
            with other.cursor() as asking:
                asking.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [pid])
                if asking.fetchone() == (0,):
                    return
            time.sleep(0.05)
    finally:
        other.close()
    raise AssertionError("the session lives on")


def test_a_page_outside_the_api_says_that_the_database_is_busy(monkeypatch):
    def busy(*_: object) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '50ms'")
            cursor.execute("SELECT pg_sleep(5)")

    monkeypatch.setattr("config.health.views._checks", busy)
    answer = Client(raise_request_exception=False).get("/statusz")

    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert answer.headers["Retry-After"]

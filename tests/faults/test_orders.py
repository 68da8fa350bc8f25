"""Cut connections: the change is rolled back, the caller gets an error, and a retry works."""

from __future__ import annotations

from unittest import mock

import psycopg
import pytest
from django.db import connection

from events.models import Event
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from inventory.seen_stock import SeenStock
from orders import change, pushing
from orders.models import Order
from orders.reconciling.reconciling import differences
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]


ADDRESS = ("host", "port", "user", "password", "dbname")


def cut_after(target, name):
    """Return a patch that lets the server end our connection right after this function."""
    original = getattr(target, name)

    def cut(*args, **kwargs):
        done = original(*args, **kwargs)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pid = cursor.fetchone()[0]
        parameters = connection.get_connection_params()
        known = {key: value for key, value in parameters.items() if key in ADDRESS}
        with psycopg.connect(**known, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        return done

    return mock.patch.object(target, name, cut)


@pytest.fixture
def retailer(shop, client_for):
    return client_for(shop)


@pytest.mark.parametrize(
    ("target", "name"),
    [(pushing, "create_fulfillments"), (SeenStock, "save"), (change, "stamp")],
    ids=["placed", "reserved", "stamped"],
)
def test_a_push_whose_connection_is_cut_leaves_nothing_and_can_be_repeated(
    acme, retailer, a_variant, target, name
):
    a_variant(acme, "A-1", stock=5)
    body = an_order({"sku": "A-1", "quantity": 2})

    with cut_after(target, name):
        answer = retailer.post("orders", body)
    connection.close()

    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer.headers["Retry-After"]
    assert not Order.objects.exists()
    assert not Event.objects.exists()
    assert StockLevel.objects.get().reserved == 0

    assert retailer.post("orders", body).json()["code"] == "order_created"
    assert StockLevel.objects.get().reserved == 2
    assert list(differences()) == []


def test_a_parcel_whose_connection_is_cut_is_not_shipped(acme, retailer, client_for, a_variant):
    a_variant(acme, "A-1", stock=5)
    retailer.post("orders", an_order({"sku": "A-1", "quantity": 2}))
    supplier, path = client_for(acme), f"fulfillments/{Fulfillment.objects.get().pk}/setStatus"
    supplier.put(f"{path}/accepted")

    with cut_after(change, "stamp"):
        assert supplier.put(f"{path}/shipped", {"tracking_number": "T-1"}).status_code == 503
    connection.close()

    assert Fulfillment.objects.get().state == "accepted"
    assert (StockLevel.objects.get().on_hand, StockLevel.objects.get().reserved) == (5, 2)
    assert supplier.put(f"{path}/shipped", {"tracking_number": "T-1"}).json()["code"] == "shipped"
    assert list(differences()) == []


def test_a_push_whose_answer_was_lost_is_answered_again(acme, retailer, a_variant):
    a_variant(acme, "A-1", stock=5)
    body = an_order({"sku": "A-1", "quantity": 2})
    first = retailer.post("orders", body, Idempotency_Key="once")

    replayed = retailer.post("orders", body, Idempotency_Key="once")
    known = retailer.post("orders", body)

    assert (replayed.status_code, replayed.json()) == (first.status_code, first.json())
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert known.json()["code"] == "order_exists"
    assert known.json()["order_id"] == first.json()["order_id"]
    assert StockLevel.objects.get().reserved == 2

"""Live parts of pages: the desk's changed rows, and the operators who look at the same record."""

import time
from urllib.parse import quote

import pytest
from django.test import Client
from redis.exceptions import RedisError

from backoffice import presence
from tests.backoffice.conftest import do
from tests.factories import StaffFactory

CHANGES = "/admin/desk/changes/"


def changes(client, **asked):
    answer = client.get(CHANGES, asked)
    assert answer.status_code == 200
    return answer.json()


def test_only_rows_that_look_different_are_sent_again(operator, order, fulfillment):
    do(operator, order, "hold")
    first = changes(operator)
    [row] = first["rows"]
    assert (first["total"], first["counts"]["held"]) == ("1", 1)
    assert order.retailer_order_id in row["html"]

    have = f"{row['key']}:{row['digest']}"
    assert changes(operator, have=have)["rows"] == [{"key": row["key"], "digest": row["digest"]}]

    note = {"model": "orders.order", "record_id": order.pk, "text": "Asked Shop"}
    operator.post("/admin/desk/note/", note)
    [changed] = changes(operator, have=have)["rows"]
    assert "Asked Shop" in changed["html"]


def test_solved_rows_are_gone_and_filters_hold(operator, order):
    do(operator, order, "hold")
    assert changes(operator, kind="overdue")["rows"] == []
    do(operator, order, "release")
    assert changes(operator) == {**changes(operator), "total": "0", "rows": []}


def test_the_actions_of_a_sent_row_lead_back_to_its_page(operator, order):
    do(operator, order, "hold")
    [row] = changes(operator, here="/admin/desk/?kind=held")["rows"]
    assert f"next={quote('/admin/desk/?kind=held')}" in row["html"]


def test_the_page_and_its_updates_use_the_same_keys_of_rows(operator, order):
    do(operator, order, "hold")
    [row] = changes(operator)["rows"]
    assert f'data-row="{row["key"]}"' in operator.get("/admin/desk/").text


def looking(client, order):
    return client.get(f"/admin/orders/order/{order.pk}/looking/").json()["names"]


@pytest.fixture
def nina(db):
    client = Client()
    client.force_login(StaffFactory.create(username="nina", group="Operators"))
    return client


def test_two_operators_on_the_page_of_an_order_see_each_other(operator, nina, order, monkeypatch):
    assert looking(operator, order) == []
    assert looking(nina, order) == ["olga"]
    assert looking(operator, order) == ["nina"]
    assert (
        f"/admin/orders/order/{order.pk}/looking/"
        in operator.get(f"/admin/orders/order/{order.pk}/change/").text
    )

    later = time.time() + presence.SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert looking(operator, order) == []


def test_the_list_of_viewers_works_without_redis_and_needs_the_right_to_view(operator, order, monkeypatch):
    def away():
        raise RedisError("away")

    monkeypatch.setattr(presence, "_client", away)
    assert looking(operator, order) == []
    guest = Client()
    guest.force_login(StaffFactory.create(username="guest"))
    assert guest.get(f"/admin/orders/order/{order.pk}/looking/").status_code == 403

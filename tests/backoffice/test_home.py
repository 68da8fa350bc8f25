"""The operators' home page: the most urgent rows of the desk, and the count of each kind."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from backoffice.desk.kinds import BY_NAME, KINDS
from fulfillments.models import Fulfillment, FulfillmentLine
from imports.models import ImportJob
from inventory.models import StockLevel
from orders.models import Order, OrderLine
from tests.backoffice.conftest import do
from tests.factories import ImportJobFactory


def counts(client):
    page = client.get("/admin/")
    assert page.status_code == 200
    return {kind.name: count for kind, count in page.context["gathered"].counts}


def test_nothing_waits_on_a_quiet_day(operator):
    assert set(counts(operator).values()) == {0}
    assert "No open work" in operator.get("/admin/").text


def test_a_card_leads_to_the_rows_of_its_kind(operator, order, fulfillment, client_for, acme):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")

    assert counts(operator)["address"] == 1
    page = operator.get("/admin/desk/", {"kind": "address"})
    [item] = page.context["items"]
    assert order.retailer_order_id == item.title
    assert operator.get(item.url).status_code == 200


def test_a_cancellation_waits_until_the_supplier_answers(
    operator, order, fulfillment, client_for, acme, shop
):
    client_for(shop).post(f"orders/{order.pk}/cancel")
    assert counts(operator)["cancellation"] == 1

    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus", {"status": "canceled"})
    assert counts(operator)["cancellation"] == 0


def test_a_held_order_waits_until_it_is_released(operator, order):
    do(operator, order, "hold")
    assert counts(operator)["held"] == 1
    do(operator, order, "release")
    assert counts(operator)["held"] == 0


def test_an_import_that_failed_last_month_is_not_counted(operator, acme):
    long_ago = timezone.now() - timedelta(days=30)
    ImportJobFactory.create(supplier=acme, status="failed", finished_at=long_ago)
    assert counts(operator)["failed"] == 0


def test_a_failed_dry_run_is_no_work_for_operators(operator, acme):
    ImportJobFactory.create(supplier=acme, status="failed", finished_at=timezone.now(), dry_run=True)
    assert counts(operator)["failed"] == 0


# For each kind with a list: the model, values that put a row into the kind, and similar values that do not.
LONG_AGO = timezone.now() - timedelta(days=30)
ROWS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "address": (Fulfillment, {"state": "wrong_address"}, {"state": "new"}),
    "address-in-part": (Order, {"processing_state": "exception"}, {"processing_state": "exception"}),
    "refused": (Order, {"processing_state": "exception"}, {"processing_state": "exception"}),
    "cancellation": (Fulfillment, {"state": "canceling"}, {"state": "canceled"}),
    "country": (
        Order,
        {"has_unknown_country": True},
        {"has_unknown_country": True, "processing_state": "canceled"},
    ),
    "held": (Order, {"held": True}, {"held": True, "processing_state": "completed"}),
    "backordered": (Order, {"processing_state": "received"}, {"processing_state": "received"}),
    "overpromised": (StockLevel, {"reserved": 11}, {"reserved": 10}),
    "approval": (ImportJob, {"status": "awaiting_approval"}, {"status": "queued"}),
    "failed": (
        ImportJob,
        {"status": "failed", "finished_at": timezone.now()},
        {"status": "failed", "finished_at": LONG_AGO},
    ),
}
REFUSED = {"rejected": 2, "open": 0, "reserved": 0}
# For the kinds of orders that depend on lines: two sets of values of a line. The first set puts the order of
# the line into the kind. The second set is similar, but does not.
LINES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "address-in-part": (REFUSED, REFUSED),
    "refused": (REFUSED, {"rejected": 0}),
    "backordered": (
        {"waiting_since": LONG_AGO, "reserved": 1},
        {"waiting_since": LONG_AGO, "open": 1, "reserved": 1, "rejected": 1},
    ),
}


@pytest.fixture
def two_of_each(acme, shop, a_variant, pushed):
    for sku in ("LAN-1", "LAN-2"):
        a_variant(acme, sku, stock=10)
        pushed(shop, {"sku": sku, "quantity": 2})
        ImportJobFactory.create(supplier=acme)


def test_each_kind_with_a_list_is_tested_below():
    assert list(ROWS) == [kind.name for kind in KINDS if kind.listed is not None]


@pytest.mark.parametrize("name", ROWS)
def test_every_kind_and_its_list_show_the_same_single_row(operator, two_of_each, name):
    model, of_the_kind, close_to_it = ROWS[name]
    wanted, other = model.objects.order_by("id")
    model.objects.filter(pk=wanted.pk).update(**of_the_kind)
    model.objects.filter(pk=other.pk).update(**close_to_it)
    for order, values in zip((wanted, other), LINES.get(name, ()), strict=False):
        OrderLine.objects.filter(order=order).update(**values)
        if name == "address-in-part":
            line = FulfillmentLine.objects.get(fulfillment__order=order)
            reason = "wrong_address" if order == wanted else "out_of_stock"
            line.fulfillment.rejections.create(reason=reason, items=[{"line": line.pk, "quantity": 2}])

    listing = operator.get(BY_NAME[name].url)

    assert counts(operator)[name] == 1
    assert listing.status_code == 200
    assert [row.pk for row in listing.context["cl"].result_list] == [wanted.pk]


@pytest.mark.parametrize("name", ["overdue", "uncaptured", "feed", "webhook", "part"])
def test_a_kind_without_a_list_leads_to_the_desk(operator, name):
    url = BY_NAME[name].url
    assert url == f"/admin/desk/?kind={name}"
    assert operator.get(url).status_code == 200


def test_many_rows_are_counted_exactly_up_to_a_limit(operator, acme, monkeypatch):
    monkeypatch.setattr("backoffice.desk.gathering.WINDOW", 10)
    ImportJobFactory.create_in_bulk(13, supplier=acme, status="failed")
    assert 'data-live-count="failed">13</span>' in operator.get("/admin/").text
    monkeypatch.setattr("backoffice.desk.gathering.COUNTED", 12)
    monkeypatch.setattr("backoffice.desk.pages.COUNTED", 12)
    assert 'data-live-count="failed">12+</span>' in operator.get("/admin/").text


def test_the_home_page_asks_one_query_for_each_kind(operator, order, django_assert_num_queries):
    operator.get("/admin/")
    # 5 queries: the session, the user, their second factors, their permissions and those of their groups.
    # 15 queries: the desk's kinds without silent parts, which are read from Redis.
    # 1 query: the actions that need an approval.
    with django_assert_num_queries(5 + 15 + 1):
        operator.get("/admin/")


def test_support_sees_the_same_home(support, order):
    assert list(counts(support)) == [kind.name for kind in KINDS]


def test_a_visitor_without_a_session_must_log_in(db):
    answer = Client().get("/admin/")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/admin/login/?next=/admin/"


def test_pages_of_the_admin_load_only_files_of_the_service(operator):
    page = operator.get("/admin/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    assert "Content-Security-Policy" not in operator.get("/healthz").headers

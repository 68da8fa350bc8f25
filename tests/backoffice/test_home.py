"""The operators' home shows what needs a human now."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from backoffice.queues import QUEUES
from events.models import Webhook
from fulfillments.models import Fulfillment
from imports.models import ImportJob
from inventory.models import StockLevel
from orders.models import Order, OrderLine
from tests.backoffice.conftest import do
from tests.factories import ImportJobFactory, WebhookFactory, set_stock


def queues(client):
    page = client.get("/admin/")
    assert page.status_code == 200
    return {waiting.queue.title: waiting for waiting in page.context["queues"]}


def test_nothing_waits_on_a_quiet_day(operator):
    assert {waiting.count for waiting in queues(operator).values()} == {0}
    assert "Nothing waits here" in operator.get("/admin/").text


def test_a_wrong_address_waits_as_an_exception_and_as_an_address(
    operator, order, fulfillment, client_for, acme
):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")

    waiting = queues(operator)
    assert waiting["Orders in exception"].count == 1
    assert waiting["Wrong addresses"].count == 1
    [item] = waiting["Wrong addresses"].items
    assert order.retailer_order_id in item.text
    assert operator.get(item.url).status_code == 200


def test_a_cancellation_waits_until_the_supplier_answers(
    operator, order, fulfillment, client_for, acme, shop
):
    client_for(shop).post(f"orders/{order.pk}/cancel")
    assert queues(operator)["Cancellations waiting"].count == 1

    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus", {"status": "canceled"})
    assert queues(operator)["Cancellations waiting"].count == 0


def test_a_held_order_waits_until_it_is_released(operator, order):
    do(operator, order, "hold")
    assert queues(operator)["Held orders"].count == 1
    do(operator, order, "release")
    assert queues(operator)["Held orders"].count == 0


def test_stock_that_is_promised_twice_is_shown(operator, order):
    set_stock(on_hand=1)
    [item] = queues(operator)["Over-promised stock"].items
    assert "LAN-1 at Acme, Acme East: 2 promised, 1 there" in item.text


@pytest.mark.parametrize(
    ("status", "title"),
    [("awaiting_approval", "Imports awaiting approval"), ("failed", "Imports that failed this week")],
)
def test_an_import_that_needs_a_decision_is_shown(operator, acme, status, title):
    ImportJobFactory.create(supplier=acme, source="products/spring.csv", status=status)
    [item] = queues(operator)[title].items
    assert item.text == "products of Acme: products/spring.csv"


def test_a_failure_of_last_month_is_no_news(operator, acme):
    long_ago = timezone.now() - timedelta(days=30)
    ImportJobFactory.create(supplier=acme, status="failed", created_at=long_ago)
    assert queues(operator)["Imports that failed this week"].count == 0


# For each queue: what a row of it is like, and one that comes close.
LONG_AGO, TOMORROW = timezone.now() - timedelta(days=30), timezone.now() + timedelta(days=1)
ROWS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "Orders in exception": (Order, {"processing_state": "exception"}, {"processing_state": "received"}),
    "Wrong addresses": (Fulfillment, {"state": "wrong_address"}, {"state": "new"}),
    "Cancellations waiting": (Fulfillment, {"state": "canceling"}, {"state": "canceled"}),
    "Overdue": (Fulfillment, {"due_at": LONG_AGO}, {"due_at": TOMORROW}),
    "Unknown countries": (
        Order,
        {"has_unknown_country": True},
        {"has_unknown_country": True, "processing_state": "canceled"},
    ),
    "Held orders": (Order, {"held": True}, {"held": True, "processing_state": "completed"}),
    "Waiting for stock": (
        OrderLine,
        {"waiting_since": LONG_AGO},
        {"waiting_since": None},
    ),
    "Over-promised stock": (StockLevel, {"reserved": 11}, {"reserved": 10}),
    "Imports awaiting approval": (ImportJob, {"status": "awaiting_approval"}, {"status": "queued"}),
    "Imports that failed this week": (
        ImportJob,
        {"status": "failed"},
        {"status": "failed", "created_at": LONG_AGO},
    ),
    "Webhooks whose receivers are down": (
        Webhook,
        {"failing_since": LONG_AGO},
        {"failing_since": LONG_AGO, "active": False},
    ),
}


@pytest.fixture
def two_of_each(acme, shop, a_variant, pushed):
    for sku in ("LAN-1", "LAN-2"):
        a_variant(acme, sku, stock=10)
        pushed(shop, {"sku": sku, "quantity": 2})
        ImportJobFactory.create(supplier=acme)
    WebhookFactory.create_in_bulk(2, retailer=shop)


def test_each_queue_has_its_rows():
    assert list(ROWS) == [queue.title for queue in QUEUES]


@pytest.mark.parametrize("title", ROWS)
def test_every_queue_leads_to_a_list_of_its_rows_alone(operator, two_of_each, title):
    model, of_the_queue, close_to_it = ROWS[title]
    wanted, other = model.objects.order_by("id")
    model.objects.filter(pk=wanted.pk).update(**of_the_queue)
    model.objects.filter(pk=other.pk).update(**close_to_it)

    waiting = queues(operator)[title]
    listing = operator.get(waiting.queue.url)

    assert waiting.count == 1
    assert listing.status_code == 200
    assert [row.pk for row in listing.context["cl"].result_list] == [wanted.pk]


def test_many_are_counted_only_up_to_a_hundred(operator, acme):
    ImportJobFactory.create_in_bulk(130, supplier=acme, status="failed")
    waiting = queues(operator)["Imports that failed this week"]
    assert waiting.counted == "100+"
    assert len(waiting.items) == 5


def test_the_home_page_asks_one_query_for_each_queue(operator, order, django_assert_num_queries):
    operator.get("/admin/")
    # session, user, whether he lacks a second factor, what he and his groups may do;
    # one for each queue, and one for each of the desk's kinds (of silent parts Redis is asked)
    with django_assert_num_queries(5 + 11 + 13):
        operator.get("/admin/")


def test_support_sees_the_same_home(support, order):
    assert len(queues(support)) == 11


def test_a_stranger_is_asked_to_log_in(db):
    answer = Client().get("/admin/")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/admin/login/?next=/admin/"


def test_pages_of_the_admin_load_only_what_the_service_serves(operator):
    page = operator.get("/admin/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    assert "Content-Security-Policy" not in operator.get("/healthz").headers

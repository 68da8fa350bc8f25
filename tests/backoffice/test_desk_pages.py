"""The desk with several pages, on which each row appears once, and rows for webhooks and silent parts."""

import math
import time
from datetime import timedelta

import pytest
from django.utils import timezone
from redis.exceptions import RedisError

from api import signs_of_life
from api.cursors import write_cursor
from backoffice.desk.parts import silent_parts
from backoffice.models import ServicePart
from events.models import Event
from orders.models import Order
from tests.backoffice.conftest import do, messages
from tests.factories import DeliveryFactory, ImportJobFactory, StaffFactory, WebhookFactory, set_stock

DESK = "/admin/desk/"


def all_rows(client, **asked):
    """Return the rows of all pages in order."""
    url, found = DESK, []
    for _ in range(50):
        page = client.get(url, asked if url == DESK else None)
        found += page.context["items"]
        if not page.context["more"]:
            return found
        url = DESK + page.context["more"]
    raise AssertionError("there are more than 50 pages")


@pytest.fixture
def small(monkeypatch):
    """Show two rows on a page, and read three rows of each kind at a time."""
    monkeypatch.setattr("backoffice.desk.pages.PAGE", 2)
    monkeypatch.setattr("backoffice.desk.gathering.WINDOW", 3)


@pytest.fixture
def many(operator, acme, shop, a_variant, pushed, client_for):
    """Create eleven orders and four imports without a deadline.

    The orders have four kinds of trouble, and some orders have two kinds.
    """
    a_variant(acme, "LAN-1", stock=500)
    states = ["wrong_address", "out_of_stock", "", ""]
    for number in range(11):
        day = {} if number % 3 == 0 else {"ship_until": f"2031-01-{20 - number:02}"}
        order = pushed(shop, {"sku": "LAN-1", "quantity": number + 1}, **day)
        state = states[number % 4]
        if state:
            client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/{state}")
            set_stock(on_hand=500)
        if number % 4 in (0, 2):
            do(operator, order, "hold")
        if number % 4 == 3:
            client_for(shop).post(f"orders/{order.pk}/cancel")
    for _ in range(4):
        ImportJobFactory.create(supplier=acme, status="awaiting_approval")


def seen(items):
    return [(item.kind.name, item.record.pk, [*item.also]) for item in items]


def test_each_row_is_on_one_page_and_each_order_is_listed_once(operator, many, small):
    items = all_rows(operator)
    orders = [item.order_id for item in items if item.order_id]
    assert sorted(orders) == sorted(set(orders)) == sorted(Order.objects.values_list("pk", flat=True))
    assert len(items) == 11 + 4


def test_small_pages_show_the_rows_in_the_same_order_as_one_large_page(operator, many, monkeypatch):
    whole = seen(all_rows(operator))
    monkeypatch.setattr("backoffice.desk.pages.PAGE", 2)
    assert seen(all_rows(operator)) == whole

    monkeypatch.setattr("backoffice.desk.gathering.WINDOW", 3)
    by_windows = seen(all_rows(operator))
    assert sorted(by_windows) == sorted(whole)
    dated = [item.due_at for item in all_rows(operator) if item.due_at]
    assert dated == sorted(dated)


def test_a_solved_row_moves_no_other_row_to_another_page(operator, many, small):
    first = operator.get(DESK)
    ImportJobFactory._meta.model.objects.all().delete()
    rest = operator.get(DESK + first.context["more"]).context["items"]
    shown = {item.order_id for item in first.context["items"]}
    assert shown.isdisjoint(item.order_id for item in rest)


@pytest.mark.parametrize(
    "cursor",
    [
        "nonsense",
        write_cursor({"held": ["2031-01-01T00:00:00+00:00", math.inf]}, None),
        write_cursor({"held": ["2031-01-01T00:00:00", 7]}, None),
        write_cursor({}, ["2031-01-01T00:00:00+00:00", "1", "2031-01-01T00:00:00+00:00", 1, 2**63]),
    ],
)
def test_an_invalid_cursor_shows_the_first_page(operator, many, small, cursor):
    assert seen(operator.get(DESK, {"start": cursor}).context["items"]) == seen(
        operator.get(DESK).context["items"]
    )


def test_a_filter_stays_on_the_next_page(operator, many, small):
    assert {item.kind.name for item in all_rows(operator, kind="approval")} == {"approval"}
    assert len(all_rows(operator, kind="approval")) == 4


def test_a_webhook_with_dead_deliveries_is_on_the_desk_until_they_are_sent_again(operator, acme, order):
    webhook = WebhookFactory.create(supplier=acme, retailer=None)
    Event.publish()
    event = Event.objects.earliest("number")
    DeliveryFactory.create(webhook=webhook, event=event, status="dead", next_attempt_at=None)

    [item] = all_rows(operator)
    assert (item.kind.name, item.title, item.parties) == ("webhook", webhook.url, "Acme")
    assert "given up after 72 hours" in item.problem
    assert all(operator.get(url).status_code == 200 for _, url in item.actions)
    do(operator, webhook, "resend_dead")
    assert all_rows(operator) == []


def test_a_webhook_is_on_the_desk_only_after_failing_for_some_time(operator, acme, rival, order):
    now = timezone.now()
    of_supplier = {"retailer": None, "last_error": "HTTP 502"}
    failing = WebhookFactory.create(supplier=acme, failing_since=now - timedelta(hours=1), **of_supplier)
    WebhookFactory.create(supplier=rival, failing_since=now - timedelta(minutes=1), **of_supplier)

    assert [item.problem for item in all_rows(operator)] == ["The receiver accepts no events: HTTP 502"]
    Event.publish()
    event = Event.objects.earliest("number")
    DeliveryFactory.create(webhook=failing, event=event, status="dead", next_attempt_at=None)
    assert [item.problem for item in all_rows(operator)] == [
        "The receiver accepts no events: HTTP 502. Events were given up after 72 hours."
    ]
    assert all_rows(operator, supplier=rival.pk) == []


@pytest.fixture
def at(monkeypatch):
    """Return a function that sets the clock of the signs of life to some seconds after now.

    All signs of life are deleted before and after the test.
    """
    began, client = time.time(), signs_of_life._client()
    client.delete(signs_of_life.KEY)
    yield lambda seconds: monkeypatch.setattr("api.signs_of_life.time.time", lambda: began + seconds)
    client.delete(signs_of_life.KEY)


def test_a_silent_part_of_the_service_is_on_the_desk_until_its_next_sign_of_life(operator, at):
    signs_of_life.give("ticker")
    signs_of_life.give("web")
    assert all_rows(operator) == []
    at(100)
    signs_of_life.give("web")

    [item] = all_rows(operator)
    assert (item.kind.name, item.parties) == ("part", "The service")
    assert item.title.startswith("ticker on ")
    assert "/admin/status/" in operator.get(item.url).text
    signs_of_life.give("ticker")
    assert all_rows(operator) == []


def test_a_removed_part_is_reported_again_only_after_new_silence(operator, at):
    signs_of_life.give("ticker")
    at(100)
    [item] = all_rows(operator)
    assert messages(do(operator, item.record, "taken-away"))[0].endswith("falls silent again.")
    assert all_rows(operator) == []

    ServicePart.objects.update(taken_away_at=timezone.now() - timedelta(hours=1))
    assert len(all_rows(operator)) == 1


def test_many_silent_parts_are_stored_by_one_query_and_read_by_one(
    db, at, monkeypatch, django_assert_num_queries
):
    for host in ("one", "two", "three"):
        monkeypatch.setattr("api.signs_of_life.socket.gethostname", lambda host=host: host)
        signs_of_life.give("ticker")
        signs_of_life.give("sftp")
    at(100)
    with django_assert_num_queries(2):
        found = silent_parts()
    with django_assert_num_queries(1):
        again = silent_parts()
    assert {part.pk for part in found} == {part.pk for part in again}
    assert len(again) == 6


def test_a_part_that_becomes_silent_again_keeps_its_row_and_gets_a_new_time(db, at):
    signs_of_life.give("ticker")
    at(100)
    before = silent_parts().get()
    at(200)
    signs_of_life.give("ticker")
    at(240)
    after = silent_parts().get()
    assert after.pk == before.pk
    assert after.heard_at > before.heard_at


def test_the_desk_reports_that_redis_is_missing(operator, monkeypatch):
    def gone():
        raise RedisError

    monkeypatch.setattr("backoffice.desk.parts.all_signs", gone)
    [item] = all_rows(operator)
    assert item.title == "redis"


def test_a_row_is_taken_with_one_button_and_keeps_its_note(operator, order, fulfillment, acme, client_for):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    page = operator.get(DESK).text
    assert "Assign to me" in page
    sent = {"model": "fulfillments.fulfillment", "record_id": fulfillment.pk, "text": "Asked"}
    operator.post(f"{DESK}note/", {**sent, "assigned_to": "olga"})
    [item] = all_rows(operator, taken="mine")
    assert (item.note.assigned_to, item.note.text) == ("olga", "Asked")
    assert "Assign to me" not in operator.get(DESK).text


def test_only_an_operator_can_take_a_row(operator, order, fulfillment):
    StaffFactory.create(username="paul", is_active=False)
    sent = {"model": "fulfillments.fulfillment", "record_id": fulfillment.pk, "assigned_to": "paul"}
    page = operator.post(f"{DESK}note/", sent, follow=True)
    assert messages(page) == [
        "Nothing was saved. No operator has the name paul. Choose a name from the list."
    ]


def test_an_action_from_the_desk_leads_back_to_the_desk(operator, order, fulfillment, acme, client_for):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    [item] = all_rows(operator)
    page = operator.get(f"{item.url}?next={DESK}").text
    assert f"do/give-up/?next={DESK}" in page
    assert f"?next={DESK}" not in operator.get(f"{item.url}?next=https://evil.example/admin/").text


def test_counts_are_exact_although_few_rows_are_read_at_a_time(operator, many, small):
    page = operator.get(DESK)
    counts = {kind.name: count for kind, count in page.context["gathered"].counts}
    assert page.context["gathered"].total == "15"
    assert (counts["approval"], counts["held"]) == (4, 6)

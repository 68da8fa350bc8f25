"""The page *Today* of a supplier: each kind of open work with its number and a button to its list."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Supplier
from fulfillments.models import Fulfillment
from fulfillments.slips.contents import SlipBatch
from fulfillments.states import State
from imports.models import Status
from inventory.models import Warehouse
from tests.factories import ImportJobFactory


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    a_variant(acme, "LAMP", stock=10, wholesale_price="7.5")
    return pushed(shop, {"sku": "LAMP", "quantity": 2}).fulfillments.get()


def bucket(client, name):
    [found] = [each for each in client.get("/portal/").context["buckets"] if each.name == name]
    return found


def test_every_kind_of_work_has_a_number(ana, work):
    assert [each.name for each in ana.get("/portal/").context["buckets"]] == [
        "New",
        "To ship today",
        "Late",
        "Cancellations to answer",
        "Failed files",
        "Stock not updated",
        "Messages from operators",
    ]


def test_a_number_has_its_amount_and_its_button_leads_to_exactly_these_orders(ana, work, pushed, shop):
    pushed(shop, {"sku": "LAMP", "quantity": 1})
    Fulfillment.objects.update(state=State.ACCEPTED)
    Fulfillment.objects.filter(pk=work.pk).update(due_at=timezone.now().replace(hour=23, minute=59))

    today = bucket(ana, "To ship today")
    assert (today.count, today.amounts) == ("1", [(Decimal("15"), "USD")])
    rows = ana.get(today.url).context["rows"]
    assert [row.fulfillment.pk for row, _ in rows] == [work.pk]


def test_an_amount_has_the_currency_of_its_orders(ana, acme, work):
    Supplier.objects.filter(pk=acme.pk).update(currency="EUR")

    assert bucket(ana, "New").amounts == [(Decimal("15"), "USD")]


def test_an_order_that_was_not_captured_in_time_is_late_as_in_the_api(ana, sam, acme, client_for, work):
    Fulfillment.objects.update(capture_due_at=timezone.now() - timedelta(hours=1))

    assert client_for(acme).get(f"fulfillments/{work.pk}").json()["overdue"]
    assert bucket(ana, "Late").count == "1"
    assert "You had to capture or accept it by" in ana.get(f"/portal/orders/{work.pk}/").text
    assert "is late" in sam.get(f"/portal/purchases/{work.order_id}/").text


def with_a_later_limit(order, work):
    """Make `work` late to capture, but due after the order's fulfillment. Return the order's fulfillment."""
    later, now = order.fulfillments.get(), timezone.now()
    ends = {later: (now + timedelta(days=1), None), work: (now + timedelta(days=2), now - timedelta(hours=1))}
    for each, (due, capture_due) in ends.items():
        Fulfillment.objects.filter(pk=each.pk).update(due_at=due, capture_due_at=capture_due)
    return later


def test_slips_begin_with_the_order_that_is_late_to_capture(ana, shop, work, pushed, monkeypatch):
    late = pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get()
    later = with_a_later_limit(work.order, late)
    printed = []

    def read(own, ids, **_):
        printed.extend(ids)
        return SlipBatch([], [])

    monkeypatch.setattr("portal.supplying.slips.read_slips", read)
    ana.get("/portal/orders/slips/")

    assert printed == [late.pk, later.pk]


@pytest.mark.parametrize("path", ["/portal/", "/portal/quick-ship/", "/portal/products/{variant}/"])
def test_an_order_that_is_late_to_capture_comes_before_later_limits(ana, acme, shop, work, pushed, path):
    later = with_a_later_limit(pushed(shop, {"sku": "LAMP", "quantity": 1}), work)

    text = ana.get(path.format(variant=work.lines.get().variant_id)).text
    assert text.index(work.order.retailer_order_id) < text.index(later.order.retailer_order_id)


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"status": Status.FAILED}, "1"),
        ({"status": Status.FAILED, "dry_run": True}, "0"),
        ({"status": Status.FAILED, "created_at": timezone.now() - timedelta(days=8)}, "0"),
        ({"status": Status.SUCCEEDED}, "0"),
    ],
)
def test_failed_files_are_counted_for_a_week(ana, acme, rival, fields, count):
    ImportJobFactory.create(supplier=acme, **fields)
    ImportJobFactory.create(supplier=rival, status=Status.FAILED)
    failed = bucket(ana, "Failed files")
    assert failed.count == count
    assert len(ana.get(failed.url).context["rows"]) == int(count)


@pytest.mark.parametrize(
    ("kind", "count"), [("products", "0"), ("inventory", "1")], ids=["the same kind", "another kind"]
)
def test_a_later_file_of_the_same_kind_replaces_a_failed_one(ana, acme, kind, count):
    ImportJobFactory.create(supplier=acme, kind="products", status=Status.FAILED)
    ImportJobFactory.create(supplier=acme, kind=kind, status=Status.SUCCEEDED_WITH_ERRORS)
    assert bucket(ana, "Failed files").count == count


def test_held_files_have_a_tab(ana, acme):
    held = ImportJobFactory.create(supplier=acme, status=Status.AWAITING_APPROVAL)
    ImportJobFactory.create(supplier=acme)
    assert [job.pk for job, _ in ana.get("/portal/files/?tab=held").context["rows"]] == [held.pk]


def test_stock_without_a_count_for_a_day_is_counted_by_its_listed_products(ana, acme, a_variant, client_for):
    a_variant(acme, "LAMP")
    a_variant(acme, "VASE")
    a_variant(acme, "OLD", listed=False)
    never = bucket(ana, "Stock not updated")
    assert (never.count, never.note, never.url) == ("2", "never counted", "/portal/stock/")

    Warehouse.objects.filter(supplier=acme).update(heard_at=timezone.now() - timedelta(hours=25))
    assert bucket(ana, "Stock not updated").count == "2"
    assert bucket(ana, "Stock not updated").note.startswith("counted 1\xa0day")

    Warehouse.objects.filter(supplier=acme).update(heard_at=timezone.now() - timedelta(hours=23))
    assert bucket(ana, "Stock not updated").count == "0"


def test_today_takes_the_same_queries_for_any_amount_of_work(ana, acme, shop, work, pushed, a_variant):
    Warehouse.objects.filter(supplier=acme).update(heard_at=timezone.now() - timedelta(days=3))

    def count():
        with CaptureQueriesContext(connection) as captured:
            ana.get("/portal/")
        return len(captured)

    ImportJobFactory.create(supplier=acme, status=Status.FAILED)
    before = count()
    for name in ("VASE", "CUP"):
        a_variant(acme, name, stock=5)
        pushed(shop, {"sku": name, "quantity": 1})
        ImportJobFactory.create(supplier=acme, status=Status.FAILED)
    assert count() == before

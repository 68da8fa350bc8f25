"""A supplier reads its scorecard, in which each number links to its orders."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.scorecard.sums import add_up
from orders.models import Order
from tests.factories import PartnershipFactory
from tests.portal.conftest import act

PAGE = "/portal/performance/"


@pytest.fixture
def work(acme, shop, boutique, a_variant, pushed, ana):
    """Push an order of Shop, which Acme refuses, and an order of Boutique."""
    PartnershipFactory.create(supplier=acme, retailer=boutique)
    a_variant(acme, "LAMP", stock=5)
    refused = pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get()
    act(ana, f"/portal/orders/{refused.pk}/do/reject-out-of-stock/")
    a_variant(acme, "CHAIR", stock=5)
    other = pushed(boutique, {"sku": "CHAIR", "quantity": 1}).fulfillments.get()
    Event.publish()
    add_up(seconds=5)
    return refused, other


def test_the_numbers_equal_the_scorecard_of_the_api_and_link_to_their_orders(ana, acme, work, client_for):
    refused, other = work
    page = ana.get(PAGE)
    card = client_for(acme).get("scorecard").json()
    assert page.context["card"].counts["created"] == card["fulfillments"] == 2
    assert page.context["performance"].now.refused == 1

    listed = ana.get(page.context["links"]["refused"]).content.decode()
    assert "Counted on a scorecard: Refused" in listed
    assert refused.order.retailer_order_id in listed
    assert other.order.retailer_order_id not in listed


def test_the_scorecard_of_one_retailer_counts_its_orders(ana, work, boutique):
    page = ana.get(PAGE, {"retailer": boutique.pk, "days": "90"})
    assert page.context["performance"].now.received == 1
    for wrong in ("x", "999999999", "9" * 30):
        assert ana.get(PAGE, {"retailer": wrong, "days": wrong}).context["performance"].now.received == 2


def test_a_link_with_the_id_of_another_supplier_shows_only_own_orders(ana, rival, work):
    link = ana.get(PAGE).context["links"]["received"].replace(f".{work[0].supplier_id}.0", f".{rival.pk}.0")
    listed = ana.get(link).content.decode()
    assert work[0].order.retailer_order_id in listed
    assert ana.get("/portal/orders/?counted=nonsense").status_code == 200


@pytest.mark.parametrize("days", ["0001-01-01.9999-12-31", "0001-01-01.2026-01-01", "2026-01-01.9999-12-31"])
def test_a_link_with_impossible_days_shows_the_list_without_its_filter(ana, sam, work, days):
    number = work[0].order.retailer_order_id
    for client, path in ((ana, "/portal/orders/"), (sam, "/portal/purchases/")):
        listed = client.get(path, {"counted": f"late.{days}.0.0", "tab": "all"}).content.decode()
        assert number in listed
        assert "Counted on a scorecard" not in listed


@pytest.mark.parametrize("for_one_retailer", [True, False])
def test_the_numbers_of_open_work_equal_the_rows_of_their_lists(
    ana, acme, shop, boutique, pushed, work, for_one_retailer
):
    for retailer in (shop, boutique, boutique):
        pushed(retailer, {"sku": "CHAIR", "quantity": 1})
    held = pushed(boutique, {"sku": "CHAIR", "quantity": 1})
    Order.objects.filter(pk=held.pk).update(held=True)
    late = Fulfillment.objects.filter(supplier=acme, state="new").earliest("pk")
    Fulfillment.objects.filter(pk=late.pk).update(capture_due_at=timezone.now())
    Fulfillment.objects.filter(order=held.pk).update(due_at=timezone.now())

    page = ana.get(PAGE, {"retailer": boutique.pk} if for_one_retailer else {})

    for name, number in (("open_now", 3 if for_one_retailer else 4), ("late_now", 1)):
        bucket = page.context[name]
        assert f'<a href="{escape(bucket.url)}">{number}</a>' in page.text
        assert len(ana.get(bucket.url).context["rows"]) == number
    assert ("Orders of Boutique" in ana.get(page.context["open_now"].url).text) is for_one_retailer


def test_a_list_of_one_retailer_ignores_retailers_who_are_no_partners(ana, boutique, rival, work):
    listed = ana.get("/portal/orders/", {"retailer": "999999999", "tab": "all"})
    assert len(listed.context["rows"]) == 2
    assert "Orders of" not in listed.text


@pytest.mark.parametrize("kind", ["retailer", "counted"])
def test_a_search_outside_the_filter_of_a_list_offers_the_search_in_all_orders(ana, boutique, work, kind):
    refused, other = work
    links = ana.get(PAGE).context["links"]
    url = links["refused"] if kind == "counted" else f"/portal/orders/?retailer={boutique.pk}"
    number = (other if kind == "counted" else refused).order.retailer_order_id

    page = ana.get(f"{url}&q={number}").text
    assert "No order of this list has this number" in page
    assert "No order of yours" not in page
    [search] = re.findall(r'href="([^"]+)">Search all orders', page)
    assert len(ana.get(f"/portal/orders/{search}").context["rows"]) == 1
    assert "No order of yours has this number" in ana.get("/portal/orders/?q=unknown").text


def test_a_retailers_search_outside_the_filter_of_a_list_offers_the_search_in_all_orders(
    sam, acme, work, pushed
):
    pushed(work[0].order.retailer, {"sku": "LAMP", "quantity": 1}, retailer_order_id="A & B")
    partnership = work[0].partnership
    link = sam.get(f"/portal/suppliers/{partnership.pk}/").context["links"]["refused"]

    page = sam.get(f"{link}&q=A+%26+B").text
    assert "No order of this list has this number" in page
    [search] = re.findall(r'href="([^"]+)">Search all orders', page)
    assert len(sam.get(f"/portal/purchases/{search}").context["rows"]) == 1


def test_all_new_orders_are_not_offered_for_acceptance_in_a_list_of_one_retailer(ana, boutique, work):
    listed = ana.get("/portal/orders/", {"tab": "new", "retailer": boutique.pk})
    assert len(listed.context["rows"]) == 1
    assert "Accept all new orders" not in listed.text
    assert "Accept all new orders" in ana.get("/portal/orders/?tab=new").text


def test_the_file_has_one_row_per_day(ana, work):
    rows = [*csv.reader(io.StringIO(ana.get(PAGE, {"file": "csv"}).getvalue().decode("utf-8-sig")))]
    assert rows[0] == ["day", "received", "accepted", "shipped", "refused"]
    assert len(rows) == 31
    assert rows[-1][1:] == ["2", "0", "0", "1"]


def test_the_page_takes_the_same_queries_for_any_number_of_days(ana, work):
    def count_queries(days):
        ana.get(PAGE, {"days": days})
        with CaptureQueriesContext(connection) as captured:
            ana.get(PAGE, {"days": days})
        return len(captured)

    assert count_queries("30") == count_queries("90")

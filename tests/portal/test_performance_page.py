"""A supplier reads its scorecard, and each number leads to its orders."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from events.models import Event
from fulfillments.scorecard.sums import add_up
from tests.factories import PartnershipFactory
from tests.portal.conftest import act

PAGE = "/portal/performance/"


@pytest.fixture
def work(acme, shop, boutique, a_variant, pushed, ana):
    """An order of Shop that was refused, and an order of Boutique."""
    PartnershipFactory.create(supplier=acme, retailer=boutique)
    a_variant(acme, "LAMP", stock=5)
    refused = pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get()
    act(ana, f"/portal/orders/{refused.pk}/do/reject-out-of-stock/")
    a_variant(acme, "CHAIR", stock=5)
    other = pushed(boutique, {"sku": "CHAIR", "quantity": 1}).fulfillments.get()
    Event.publish()
    add_up(seconds=5)
    return refused, other


def test_the_numbers_are_those_of_the_api_and_lead_to_their_orders(ana, acme, work, client_for):
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


def test_the_number_of_another_supplier_shows_only_own_orders(ana, rival, work):
    link = ana.get(PAGE).context["links"]["received"].replace(f".{work[0].supplier_id}.0", f".{rival.pk}.0")
    listed = ana.get(link).content.decode()
    assert work[0].order.retailer_order_id in listed
    assert ana.get("/portal/orders/?counted=nonsense").status_code == 200


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

"""Histories of orders and fulfillments are in names and skus, and join all that happened."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.backoffice.conftest import do


def story(client, record):
    meta = record._meta
    page = client.get(f"/admin/{meta.app_label}/{meta.model_name}/{record.pk}/change/")
    assert page.status_code == 200
    return page.context["story"]


def shown(entry):
    return entry.title, dict(entry.details).get("pieces", "")


def test_it_names_skus_people_keys_captures_and_stock(operator, order, fulfillment, client_for, acme):
    supplier = client_for(acme)
    supplier.get("fulfillments")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "1Z"})
    entries = story(operator, order)
    assert [shown(entry) for entry in entries] == [
        ("Order created", ""),
        ("Fulfillment created", "2 × LAN-1"),
        ("Stock set aside", "2 × LAN-1"),
        ("First captured", ""),
        ("Fulfillment accepted", ""),
        ("Fulfillment shipped", "2 × LAN-1"),
        ("Stock taken out of stock", "2 × LAN-1"),
    ]
    accepted = entries[4]
    assert (accepted.by, accepted.key.startswith("fxk_")) == ("ERP", True)
    assert accepted.request_id
    assert story(operator, fulfillment)[-1].title == "Stock taken out of stock"


def test_what_retailers_ask_back_is_named_too(operator, order, client_for, shop):
    line = order.lines.get()
    client_for(shop).post(f"orders/{order.pk}/cancel", {"lines": [{"id": line.pk, "quantity": 1}]})
    page = operator.get(f"/admin/orders/order/{order.pk}/change/")
    asked = [entry for entry in page.context["story"] if entry.type == "fulfillment.cancelation_requested"]
    assert dict(asked[0].details)["pieces"] == "1 × LAN-1"
    assert "order line id" not in page.text
    assert "order_line_id" not in page.text


def test_a_person_is_called_by_name(operator, order):
    do(operator, order, "hold", reason="Asked to")
    assert "olga" in {entry.by for entry in story(operator, order)}


def test_it_costs_the_same_whatever_has_happened(operator, order, fulfillment, client_for, acme, shop):
    def asked():
        with CaptureQueriesContext(connection) as queries:
            story(operator, order)
        return len(queries)

    asked()
    supplier = client_for(acme)
    supplier.get("fulfillments")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    before = asked()
    client_for(shop).post(f"orders/{order.pk}/cancel")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus", {"status": "cancelation not allowed"})
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    assert asked() <= before + 1

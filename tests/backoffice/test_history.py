"""The histories of orders and fulfillments show all events together, with names and SKUs instead of ids."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.backoffice.conftest import do


def entries_of(client, record):
    meta = record._meta
    page = client.get(f"/admin/{meta.app_label}/{meta.model_name}/{record.pk}/change/")
    assert page.status_code == 200
    return page.context["entries"]


def shown(entry):
    return entry.title, dict(entry.details).get("units", "")


def test_the_history_names_skus_people_keys_captures_and_stock(
    operator, order, fulfillment, client_for, acme
):
    supplier = client_for(acme)
    supplier.get("fulfillments")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "1Z"})
    entries = entries_of(operator, order)
    assert [shown(entry) for entry in entries] == [
        ("Order created", ""),
        ("Fulfillment created", ""),
        ("Routed", "2 × LAN-1 to Acme"),
        ("Stock reserved", "2 × LAN-1"),
        ("First captured", ""),
        ("Fulfillment accepted", ""),
        ("Order processing", ""),
        ("Fulfillment shipped", "2 × LAN-1"),
        ("Order completed", ""),
        ("Stock shipped", "2 × LAN-1"),
    ]
    accepted = entries[5]
    assert (accepted.by, accepted.key.startswith("fxk_")) == ("ERP", True)
    assert accepted.request_id
    assert entries_of(operator, fulfillment)[-1].title == "Stock shipped"


def test_cancellation_requests_are_named_too(operator, order, client_for, shop):
    line = order.lines.get()
    client_for(shop).post(f"orders/{order.pk}/cancel", {"lines": [{"id": line.pk, "quantity": 1}]})
    page = operator.get(f"/admin/orders/order/{order.pk}/change/")
    asked = [entry for entry in page.context["entries"] if entry.type == "fulfillment.cancelation_requested"]
    assert dict(asked[0].details)["units"] == "1 × LAN-1"
    assert "order line id" not in page.text
    assert "order_line_id" not in page.text


def test_a_person_is_called_by_name(operator, order):
    do(operator, order, "hold", reason="Asked to")
    assert "olga" in {entry.by for entry in entries_of(operator, order)}


def test_a_longer_history_costs_no_more_queries(operator, order, fulfillment, client_for, acme, shop):
    def asked():
        with CaptureQueriesContext(connection) as sent:
            entries_of(operator, order)
        return len(sent)

    asked()
    supplier = client_for(acme)
    supplier.get("fulfillments")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    before = asked()
    client_for(shop).post(f"orders/{order.pk}/cancel")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus", {"status": "cancelation not allowed"})
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    assert asked() <= before + 1


def test_the_next_step_is_shown_first(operator, order, fulfillment, client_for, acme):
    def steps():
        page = operator.get(f"/admin/orders/order/{order.pk}/change/")
        return [step.text for step, _ in page.context["steps"]]

    number, supplier = fulfillment.pk, client_for(acme)
    assert steps() == [f"Acme has to capture fulfillment {number}."]
    supplier.get("fulfillments")
    assert steps() == [f"Acme has to accept fulfillment {number}."]
    supplier.put(f"fulfillments/{number}/setStatus/wrong_address")
    assert steps() == ["Ask Shop for the right address, and correct the address."]
    do(operator, order, "cancel", reason="Gone")
    order.refresh_from_db()
    assert order.processing_state == "canceled"
    assert steps() == []


def test_late_work_is_marked_and_lines_are_added_up(operator, acme, shop, a_variant, pushed):
    a_variant(acme, "LAN-1", stock=9, wholesale_price="10.50")
    shop.partnerships.update(hours_to_accept=1)
    lines = [{"sku": "LAN-1", "quantity": 2, "billed_amount": 25}]
    order = pushed(shop, *lines, {"sku": "LAN-1", "quantity": 1, "billed_amount": "12.5"})
    work = order.fulfillments.get()
    order.fulfillments.update(due_at=work.created_at - timedelta(hours=3))
    context = operator.get(f"/admin/orders/order/{order.pk}/change/").context
    assert context["steps"][0][0].overdue
    assert context["totals"] == (3, Decimal("37.5"), None, {"USD": Decimal("31.5")})

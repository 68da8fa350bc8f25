"""An order's timeline shows routing, webhooks and suspensions. A suspension can reassign open work."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from accounts.actors import Actor
from backoffice.suspending.services import suspend
from events.models import Event
from events.timeline import HistoryEntry, actor_name
from fulfillments.models import Fulfillment, RoutingDecision
from fulfillments.timeline_rows import timeline_rows
from inventory.models import StockMovement
from tests.factories import DeliveryFactory, WebhookFactory

BY = Actor.system("test")


def order_page(client, order):
    return client.get(f"/admin/orders/order/{order.pk}/change/").text


def test_the_history_shows_the_supplier_that_routing_chose(operator, order):
    page = order_page(operator, order)
    assert "Routed" in page
    assert "2 × LAN-1 to Acme" in page


def test_all_events_of_a_request_are_one_row_with_a_sentence(operator, acme, order, fulfillment, client_for):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/missing_sku")
    operator.post(f"/admin/orders/order/{order.pk}/comment/", {"text": "Called them", "next": "/admin/"})
    page = operator.get(f"/admin/orders/order/{order.pk}/change/")
    rows = page.context["rows"]
    assert [row.sentence for row in rows] == [
        "Shop pushed the order",
        "Acme refused 2 × LAN-1: Missing SKU",
        "Comment",
    ]
    assert [row.meaning for row in rows] == ["", "bad", ""]
    assert len(rows[0].entries) > 2
    assert ("Routed", "2 × LAN-1 to Acme") in rows[0].shown
    # The id of a request is shown only in *Details*.
    before, _, details = page.text.partition("Acme refused 2 × LAN-1: Missing SKU")[2].partition("<details>")
    assert rows[1].lead.request_id not in before
    assert rows[1].lead.request_id in details


def test_requests_with_the_same_id_are_rows_of_their_own_in_the_order_of_time(
    operator, acme, order, fulfillment, client_for
):
    (line,) = fulfillment.lines.all()
    parcels = [
        {"tracking_number": number, "lines": [{"id": line.pk, "quantity": 1}]} for number in ("1Z-1", "1Z-2")
    ]
    for state, body in [("accepted", {}), *(("shipped", parcel) for parcel in parcels)]:
        for model, moment in [
            (Event, "occurred_at"),
            (StockMovement, "occurred_at"),
            (RoutingDecision, "decided_at"),
        ]:
            model._default_manager.update(**{moment: F(moment) - timedelta(minutes=1)})
        path = f"fulfillments/{fulfillment.pk}/setStatus/{state}"
        assert client_for(acme).put(path, body, **{"X-Request-Id": "client-7"}).status_code == 200

    rows = operator.get(f"/admin/orders/order/{order.pk}/change/").context["rows"]
    assert [row.sentence for row in rows] == [
        "Shop pushed the order",
        "Acme accepted the work",
        "Acme shipped 1 × LAN-1",
        "Acme shipped 1 × LAN-1",
    ]


def test_a_program_that_acts_for_a_party_has_the_name_of_the_party():
    assert actor_name("system:demo (Acme)", {}) == ("Acme (demo)", "")
    assert actor_name("system:time limits", {}) == ("the service (time limits)", "")


def test_entries_without_a_request_are_grouped_by_actor_and_moment():
    at = timezone.now()
    acme, shop = "Acme (demo)", "Shop (demo)"
    pushed = [
        HistoryEntry(
            at, "Routed", "the service (routing)", about="routing", details=[("units", "1 × A to Acme")]
        ),
        HistoryEntry(at, "Stock reserved", shop, about="stock"),
        HistoryEntry(at, "Order created", shop, type="order.created"),
    ]
    refused = [HistoryEntry(at, "Fulfillment rejected", acme, type="fulfillment.rejected")]
    later = [HistoryEntry(at + timedelta(seconds=5), "Order canceled", acme, type="order.canceled")]
    comment = [HistoryEntry(at + timedelta(seconds=6), "Comment", acme, about="remark", text="Hm")]
    rows = timeline_rows([*pushed, *refused, *later, *comment], {}, "Shop")
    assert [row.entries for row in rows] == [pushed, refused, later, comment]
    assert rows[0].sentence == "Shop (demo) pushed the order"


def test_the_timeline_of_a_fulfillment_has_such_rows_too(operator, acme, order, fulfillment, client_for):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    page = operator.get(f"/admin/fulfillments/fulfillment/{fulfillment.pk}/change/")
    assert [row.sentence for row in page.context["rows"]][-1] == "Acme accepted the work"


def test_the_history_shows_webhook_deliveries(operator, order, shop):
    webhook = WebhookFactory.create(retailer=shop)
    Event.publish()
    event = Event.objects.get(type="order.created")
    now = timezone.now()
    sent = {"status": "delivered", "attempts": 3, "last_status": 204, "next_attempt_at": None}
    DeliveryFactory.create(webhook=webhook, event=event, attempted_at=now, **sent)

    page = order_page(operator, order)
    assert "Webhook delivered" in page
    assert "HTTP 204" in page
    assert webhook.url in page


def test_the_route_names_suppliers_that_were_suspended_and_why(
    operator, acme, rival, shop, a_variant, pushed
):
    a_variant(acme, "LAN-1", stock=10, wholesale_price="9")
    a_variant(rival, "LAN-1", stock=10, wholesale_price="1")
    suspend(rival, reason="Strike", until=None, by=BY)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 2})
    assert "Rival: left out, as it was suspended then (Strike)" in order_page(operator, order)


def test_the_route_omits_suppliers_suspended_later_or_without_the_item(
    operator, acme, rival, shop, a_variant, pushed
):
    a_variant(acme, "LAN-1", stock=10)
    a_variant(rival, "HAT", stock=10)
    suspend(rival, reason="Strike", until=None, by=BY)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 2})
    suspend(acme, reason="Fire", until=None, by=BY)
    assert "suspended then" not in order_page(operator, order)


@pytest.mark.parametrize(
    "line",
    [
        {
            "sku": "LAN-1",
            "upc": "012345678905",
        },  # a supplier with only the SKU is no candidate for a line with a UPC
        {"sku": "LAN-1", "supplier_id": 0},  # the test replaces 0 by the id of Acme
    ],
)
def test_the_route_names_only_suppliers_that_routing_would_ask(
    operator, acme, rival, shop, a_variant, pushed, line
):
    a_variant(acme, "LAN-1", stock=10, upc="012345678905")
    a_variant(rival, "LAN-1", stock=10)
    suspend(rival, reason="Strike", until=None, by=BY)
    own = {"supplier_id": acme.pk} if "supplier_id" in line else {}
    order = pushed(shop, {**line, **own, "quantity": 2})
    assert "suspended then" not in order_page(operator, order)


def test_the_route_names_no_former_partner(operator, acme, rival, shop, a_variant, pushed):
    a_variant(acme, "LAN-1", stock=10)
    a_variant(rival, "LAN-1", stock=10)
    suspend(rival, reason="Strike", until=None, by=BY)
    shop.partnerships.filter(supplier=rival).update(is_active=False)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 2})
    assert "suspended then" not in order_page(operator, order)


def test_a_tracking_number_that_was_given_on_accept_is_found(operator, acme, order, fulfillment, client_for):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/accepted", {"tracking_number": "1ZAbC99"})
    found = operator.get("/admin/search/", {"q": "1zab"}, follow=True).text
    assert f"Fulfillment {fulfillment.pk}" in found or f"fulfillment/{fulfillment.pk}/" in found


@pytest.fixture
def both(acme, rival, shop, a_variant, pushed, client_for):
    """Create two orders with fulfillments of Acme that Rival could fill, too.

    Acme has accepted the fulfillment of the first order.
    """
    a_variant(acme, "LAN-1", stock=10, wholesale_price="1")
    a_variant(rival, "LAN-1", stock=10, wholesale_price="9")
    orders = [pushed(shop, {"sku": "LAN-1", "quantity": 1}) for _ in range(2)]
    client_for(acme).put(f"fulfillments/{orders[0].fulfillments.get().pk}/setStatus/accepted")
    return orders


@pytest.mark.parametrize(("which", "sent"), [("new", 1), ("all", 2), ("", 0)])
def test_open_work_is_reassigned_while_its_supplier_is_suspended(operator, acme, rival, both, which, sent):
    url = f"/admin/accounts/supplier/{acme.pk}/suspend/"
    assert "reassign new fulfillments" in operator.get(url).text
    page = operator.post(url, {"reason": "Strike", "open_work": which}, follow=True)
    assert not Fulfillment.objects.filter(supplier=rival).exists()  # nothing changes before the confirmation
    if sent:
        assert f"{sent} will be done" in page.text
        confirm = f"{page.request['PATH_INFO']}confirm/"
        operator.post(confirm, {"reason": "Strike"})
    assert Fulfillment.objects.filter(supplier=rival).count() == sent
    assert acme.suspensions.get().ended_at is None


def test_a_retailer_has_no_work_to_reassign(operator, shop):
    url = f"/admin/accounts/retailer/{shop.pk}/suspend/"
    assert "reassign new fulfillments" not in operator.get(url).text
    operator.post(url, {"reason": "Strike", "open_work": "all"})
    assert shop.suspensions.exists()

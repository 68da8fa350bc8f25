"""A retailer's clerk reads the state of an order, cancels the order, or corrects its delivery."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from fulfillments.models import Fulfillment
from orders.models import Order
from tests.portal.conftest import act, said

TRACKED = {"tracking_number": "1Z999AA10123456784", "carrier": "UPS"}

FORM_ID = "9b9d0d6e-1b5c-4a53-9b0c-111111111111"


@pytest.fixture
def order(acme, shop, a_variant, pushed):
    a_variant(acme, "LAMP", stock=10, title="Desk lamp")
    a_variant(acme, "SHADE", stock=10, title="Lamp shade")
    return pushed(shop, {"sku": "LAMP", "quantity": 2}, {"sku": "SHADE", "quantity": 3})


@pytest.fixture
def page(order):
    return f"/portal/purchases/{order.pk}/"


@pytest.fixture
def work(acme, client_for, order):
    """Return a function that brings Acme's fulfillment of the order into a state."""
    client, [part] = client_for(acme), order.fulfillments.all()

    def move(status, body=None):
        answer = client.put(f"fulfillments/{part.pk}/setStatus/{status}", body or {})
        assert answer.status_code == 200, answer.content

    return move


def ids_found(browser, **asked):
    return [order.pk for order, _ in browser.get("/portal/purchases/", asked).context["rows"]]


def test_the_list_shows_open_orders(sam, order):
    assert ids_found(sam) == [order.pk]
    assert ids_found(sam, tab="completed") == []


@pytest.mark.parametrize(
    ("tab", "text"),
    [
        ("open", "Orders appear here as soon as your system pushes them."),
        ("late", "No order is late."),
        ("exception", "No order has a problem."),
        ("canceling", "No cancellation waits for a supplier’s answer."),
        ("completed", "No order is completed yet."),
        ("canceled", "No order is canceled."),
    ],
)
def test_each_tab_without_orders_says_which_orders_it_shows(sam, tab, text):
    page = sam.get("/portal/purchases/", {"tab": tab}).text
    assert text in page
    assert ("Orders appear here" in page) is (tab == "open")


@pytest.mark.parametrize("term", ["number", "pk", "JOHN d", "LAMP", "1Z999AA1012345"])
def test_a_search_finds_the_number_the_customer_the_sku_or_a_parcel(sam, order, work, pushed, shop, term):
    other = {"country": "SE", "address1": "Torg"}
    pushed(shop, {"sku": "SHADE", "quantity": 1}, shipping_address=other, retailer_order_id="OTHER")
    work("accepted")
    work("shipped", TRACKED)
    Order.objects.filter(pk=order.pk).update(
        shipping_address={**order.shipping_address, "first_name": "John", "last_name": "Doe"}
    )
    terms = {"number": order.retailer_order_id, "pk": str(order.pk)}

    assert ids_found(sam, q=terms.get(term, term)) == [order.pk]


def test_a_search_finds_nothing_of_another_retailer(sam, rival, boutique, a_variant, pushed):
    a_variant(rival, "VASE", stock=5)
    other = pushed(boutique, {"sku": "VASE", "quantity": 1}, retailer_order_id="B-77")

    for term in ("VASE", "B-77", str(other.pk)):
        assert ids_found(sam, q=term) == []


def test_each_parcel_is_a_line_with_its_carrier_and_its_link(sam, order, work, page):
    work("accepted")
    [part] = order.fulfillments.all()
    first, second = part.lines.order_by("pk")
    work("shipped", {**TRACKED, "lines": [{"id": first.pk, "quantity": 2}]})
    work(
        "shipped",
        {"tracking_number": "JD014600003", "carrier": "Bike", "lines": [{"id": second.pk, "quantity": 3}]},
    )

    for text in (sam.get("/portal/purchases/?tab=all").text, sam.get(page).text):
        assert 'href="https://wwwapps.ups.com/WebTracking/track' in text
        assert "1Z999AA10123456784" in text
        assert "JD014600003" in text
        assert "Bike" in text


def test_a_late_order_has_a_tab_and_a_badge_and_its_page_says_who_is_late(sam, order, page):
    assert ids_found(sam, tab="late") == []
    Fulfillment.objects.update(due_at=timezone.now() - timedelta(hours=2))

    assert ids_found(sam, tab="late") == [order.pk]
    assert "Acme is late" in sam.get(page).text


def test_the_page_says_why_each_line_went_to_its_supplier_but_names_no_warehouse(sam, page):
    text = sam.get(page).text

    assert "Chosen for 2 of 2, all in stock." in text
    assert "Acme East" not in text


def test_the_history_names_suppliers_and_own_people_but_no_operators(sam, order, work, operator, page):
    work("accepted")
    operator.post(f"/admin/orders/order/{order.pk}/do/hold/", {"reason": "card stolen"})
    act(sam, f"{page}do/cancel/", reason="sold twice")

    text = sam.get(page).text
    assert "by Acme" in text
    assert "by an operator" in text
    assert "by Sam" in text
    assert "Operators hold this order" in text
    for secret in ("olga", "card stolen"):
        assert secret not in text


def test_units_of_a_line_are_canceled_and_the_rest_stays(sam, order, page):
    first, second = order.lines.order_by("position")

    shown = sam.get(f"{page}do/cancel-units/").text
    assert "Desk lamp: at most 2" in shown
    done = act(sam, f"{page}do/cancel-units/", **{f"line_{first.pk}": 1, f"line_{second.pk}": 0})
    act(sam, f"{page}do/cancel-units/", **{f"line_{first.pk}": 1})

    assert "1 requested" in str(said(done))
    [part] = order.fulfillments.all()
    assert [line.cancel_requested for line in part.lines.order_by("pk")] == [2, 0]


@pytest.mark.parametrize("typed", ["0", "3", "-1", "two", ""])
def test_wrong_units_are_refused_beside_their_field(sam, order, page, typed):
    line = order.lines.order_by("position").first()
    shown = act(sam, f"{page}do/cancel-units/", **{f"line_{line.pk}": typed})

    assert shown.context["form"].errors[f"line_{line.pk}"]
    assert order.fulfillments.get().state == "new"


def test_a_form_that_is_sent_twice_cancels_once(sam, order, page):
    line = order.lines.order_by("position").first()
    path, body = (
        f"{page}do/cancel-units/",
        {f"line_{line.pk}": 1, "form_id": FORM_ID},
    )
    sam.post(path, body)
    sam.post(path, body)

    assert order.cancel_requests.count() == 1


def test_the_whole_order_is_canceled_after_a_preview(sam, order, page):
    assert "5 units are requested from Acme" in sam.get(f"{page}do/cancel/").text
    done = act(sam, f"{page}do/cancel/", reason="changed my mind")

    assert "requested" in str(said(done))
    order.refresh_from_db()
    assert order.processing_state == "canceling"
    assert "Acme has not answered the cancellation" in done.text
    assert ids_found(sam, tab="canceling") == [order.pk]


def test_the_address_is_corrected_until_a_supplier_captured_the_order(sam, acme, client_for, order, page):
    address = {**order.shipping_address, "city": "Uppsala", "country": "SE", "zip_code": "75310"}
    act(sam, f"{page}do/correct-address/", **address)
    assert Order.objects.get(pk=order.pk).shipping_address["city"] == "Uppsala"

    client_for(acme).get("fulfillments")
    late = act_late(sam, f"{page}do/correct-address/", {**address, "city": "Lund"})
    assert "A supplier has captured the order" in late
    assert "Lund" in late, "the typed text is shown again"
    assert Order.objects.get(pk=order.pk).shipping_address["city"] == "Uppsala"


def act_late(browser, path, answers):
    return browser.post(path, {"form_id": FORM_ID, **answers}).text


def test_a_late_correction_shows_the_new_address_beside_the_typed_address(sam, order, operator, page):
    path = f"{page}do/correct-address/"
    opened = sam.get(path).context["form"]
    answers = {**order.shipping_address, "country": "SE", "city": "Lund"}
    correction = {**answers, "city": "Umea", "reason": "called"}
    operator.post(f"/admin/orders/order/{order.pk}/do/correct-address/", correction)

    text = act_late(sam, path, {**answers, "shown": opened["shown"].value()})
    assert "Someone corrected this address, so nothing was changed." in text
    assert "Now: Umea" in text
    assert 'value="Lund"' in text
    assert "olga" not in text


def test_a_refused_address_asks_for_a_correction(sam, order, work, page):
    work("wrong_address")
    text = sam.get(page).text
    assert "Acme refused the address" in text
    assert ids_found(sam, tab="exception") == [order.pk]

    act(
        sam, f"{page}do/correct-address/", **{**order.shipping_address, "country": "SE", "address1": "Torg 2"}
    )
    assert order.fulfillments.get().state == "new"


def test_the_date_to_ship_is_changed(sam, order, page):
    day = timezone.now().date() + timedelta(days=9)
    done = act(sam, f"{page}do/change-date/", ship_until=day.isoformat())
    assert f"has to be shipped by {day:%-d %b %Y}" in str(said(done))
    order.refresh_from_db()
    assert order.ship_until == day
    assert act(sam, f"{page}do/change-date/", ship_until="soon").context["form"].errors["ship_until"]


def test_today_counts_open_orders_of_each_side(sam, ana, order):
    assert order.retailer_order_id in sam.get("/portal/").text
    today = ana.get("/portal/")
    assert [bucket.count for bucket in today.context["buckets"]][:4] == ["1", "0", "0", "0"]
    assert order.retailer_order_id in today.text


@pytest.mark.parametrize("path", ["/portal/", "/portal/purchases/", "/portal/purchases/?q=LAMP", "order"])
def test_pages_take_the_same_queries_for_any_number_of_orders_and_parcels(
    sam, shop, order, work, page, pushed, path
):
    shown = page if path == "order" else path

    def count():
        with CaptureQueriesContext(connection) as captured:
            sam.get(shown)
        return len(captured)

    before = count()
    pushed(shop, {"sku": "LAMP", "quantity": 1})
    work("accepted")
    work("shipped", TRACKED)
    assert count() <= before + (1 if path == "order" else 0), (
        "only a page after a capture may take one more query"
    )

"""A supplier's clerk finds an order, reads it, and makes every move that its state allows."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.member_roles import MemberRole
from events.models import Event
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.backoffice.conftest import do, operator  # noqa: F401
from tests.portal.conftest import act, browser_of, said


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    """Push an order of two lamps, as Shop."""
    a_variant(acme, "LAMP", stock=10)
    return pushed(shop, {"sku": "LAMP", "quantity": 2}).fulfillments.get()


@pytest.fixture
def page(work):
    return f"/portal/orders/{work.pk}/"


def move(client, page, name, **answers):
    return act(client, f"{page}do/{name}/", **answers)


def state(work):
    return Fulfillment.objects.get(pk=work.pk).state


def test_the_list_shows_open_orders_and_finds_them_by_their_numbers(ana, work, page):
    number = work.order.retailer_order_id
    assert number in ana.get("/portal/orders/").content.decode()
    assert number not in ana.get("/portal/orders/?tab=shipped").content.decode()

    for term in (number, str(work.pk)):
        assert page in ana.get("/portal/orders/", {"q": term}).content.decode()
    for term in ("unknown", "0\0", "9" * 30):
        assert "No orders here" in ana.get("/portal/orders/", {"q": term}).content.decode()


def test_a_clerk_accepts_and_ships_and_the_history_names_the_person(ana, owner, work, page):
    move(ana, page, "accept")
    assert state(work) == "accepted"

    shown = move(ana, page, "ship", tracking_number="1Z1", carrier="UPS", **units(work, 2))

    assert said(shown) == ["The parcel 1Z1 was recorded."]
    assert state(work) == "shipped"
    text = shown.content.decode()
    assert "1Z1" in text
    assert "by Ana (Acme)" in text
    assert Event.objects.get(type="fulfillment.shipped").actor == owner.actor_name


def units(work, number):
    return {f"line_{work.lines.get().pk}": number}


def test_a_new_order_ships_without_an_extra_step_and_in_parts(ana, work, page):
    move(ana, page, "ship", tracking_number="1Z1", **units(work, 1))
    assert state(work) == "accepted"
    assert work.lines.get().open == 1

    move(ana, page, "ship", tracking_number="1Z2")
    assert state(work) == "shipped"
    assert work.shipments.count() == 2


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ({"tracking_number": ""}, "This field is required."),
        ({"tracking_number": "1Z", "units": 0}, "All lines have 0 units."),
        ({"tracking_number": "1Z", "units": 3}, "less than or equal to 2"),
    ],
)
def test_a_bad_form_keeps_the_typed_text_and_ships_nothing(ana, work, page, answers, error):
    sent = {**answers, **units(work, answers.pop("units", 2))}

    shown = move(ana, page, "ship", carrier="DHL", **sent).content.decode()

    assert error in shown
    assert 'value="DHL"' in shown
    assert state(work) == "new"


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("reject-out-of-stock", "out_of_stock"),
        ("reject-missing-sku", "missing_sku"),
        ("reject-wrong-address", "wrong_address"),
    ],
)
def test_a_clerk_rejects_an_order(ana, work, page, name, after):
    move(ana, page, name, **units(work, 2))
    assert state(work) == after


@pytest.mark.parametrize(
    ("name", "after"),
    [("approve-cancelation", "canceled"), ("refuse-cancelation", "cancelation not allowed")],
)
def test_a_clerk_answers_a_cancellation(ana, operator, work, page, name, after):  # noqa: F811
    do(operator, work, "request-cancelation")
    text = ana.get(page).content.decode()
    assert "The retailer asks you to cancel" in text
    assert "2 × LAMP" in text

    move(ana, page, name)

    assert state(work) == after


def test_the_page_shows_only_names_of_the_own_party(ana, operator, work, page):  # noqa: F811
    do(operator, work, "accept", reason="agreed by telephone")

    text = ana.get(page).content.decode()

    assert "an operator" in text
    assert "olga" not in text
    assert "agreed by telephone" not in text
    assert "ERP" not in text  # a supplier does not see the name of the retailer's key


def test_a_late_form_shows_the_new_state_and_the_typed_tracking_number(ana, work, page):
    move(ana, page, "ship", tracking_number="1Z1", **units(work, 2))

    late = ana.post(f"{page}do/ship/", {"tracking_number": "1Z9", **units(work, 1)}).content.decode()

    assert "All units are shipped." in late
    assert "1Z9" in late


def test_held_orders_are_hidden_as_in_the_api(ana, work, page):
    Order.objects.filter(pk=work.order_id).update(held=True)

    assert ana.get(page).status_code == 404
    assert "No orders here" in ana.get("/portal/orders/").content.decode()


def test_a_viewer_reads_an_order_without_buttons(acme, member_of, work, page):
    text = browser_of(member_of(acme, MemberRole.VIEWER)).get(page).content.decode()
    assert "Ship to" in text
    assert "Accept order" not in text


def test_a_late_order_is_marked(ana, work, page):
    Fulfillment.objects.update(due_at=timezone.now())
    assert "Overdue" in ana.get("/portal/orders/?tab=late").content.decode()


def test_the_due_date_of_another_year_has_its_year(ana, sam, work):
    variant = work.lines.get().variant_id
    pages = [
        (ana, path) for path in ("/portal/orders/", "/portal/quick-ship/", f"/portal/products/{variant}/")
    ]
    pages.append((sam, f"/portal/purchases/{work.order_id}/"))
    now = timezone.now()
    for due, text in ((datetime(2020, 1, 2, tzinfo=UTC), "2 Jan 2020, 00:00"), (now, f"{now:%-d %b, %H:%M}")):
        Fulfillment.objects.update(due_at=due)
        for client, path in pages:
            assert text in client.get(path).text, path


def test_a_late_order_may_have_the_last_possible_day_to_ship(ana, work, page):
    Order.objects.update(ship_until=date.max)
    Fulfillment.objects.update(due_at=timezone.now())
    assert "You had to accept it by" in ana.get(page).text


@pytest.mark.parametrize(
    ("tab", "text"),
    [
        ("new", "New orders appear here as soon as a retailer sends them."),
        ("accepted", "No accepted order waits to be shipped."),
        ("today", "No order has to be shipped today."),
        ("late", "No order is late."),
        ("canceling", "No cancellation waits for your answer."),
        ("shipped", "No order is shipped yet."),
    ],
)
def test_each_tab_without_orders_says_which_orders_it_shows(ana, tab, text):
    page = ana.get("/portal/orders/", {"tab": tab}).text
    assert text in page
    assert ("New orders appear here" in page) is (tab == "new")


def test_the_packing_slip_is_a_pdf(ana, work, page):
    slip = ana.get(f"{page}slip/")
    assert slip["Content-Type"] == "application/pdf"


def test_the_list_takes_the_same_queries_for_any_number_of_orders(ana, shop, work, pushed):
    def count():
        with CaptureQueriesContext(connection) as captured:
            ana.get("/portal/orders/")
        return len(captured)

    before = count()
    for _ in range(3):
        pushed(shop, {"sku": "LAMP", "quantity": 1})
    assert count() == before


DOUBTFUL = "1Z999AA10123456785"
RIGHT = "1Z999AA10123456784"


def test_a_number_with_a_wrong_check_digit_ships_only_when_it_is_confirmed(ana, work, page):
    asked = {"tracking_number": DOUBTFUL, **units(work, 2)}
    shown = move(ana, page, "ship", **asked).content.decode()
    assert "The number is right" in shown
    assert DOUBTFUL in shown
    assert state(work) == "new"

    move(ana, page, "ship", **asked, is_right="on")

    assert state(work) == "shipped"
    assert "Doubtful" in ana.get(page).content.decode()


def test_a_clerk_corrects_a_tracking_number_for_some_days(ana, owner, work, page, settings):
    move(ana, page, "ship", tracking_number="TYPO-1", **units(work, 2))
    parcel = work.shipments.get()
    correct = f"/portal/orders/parcels/{parcel.pk}/do/correct/"
    assert correct in ana.get(page).content.decode()

    shown = act(ana, correct, tracking_number=RIGHT)

    assert said(shown) == [f"The parcel {RIGHT} is corrected."]
    parcel.refresh_from_db()
    assert (parcel.tracking_number, parcel.carrier) == (RIGHT, "UPS")
    assert Event.objects.get(type="fulfillment.shipment_corrected").actor == owner.actor_name
    assert said(act(ana, correct, tracking_number=RIGHT)) == [
        "The parcel already has this number and carrier."
    ]
    settings.SHIPMENT_CORRECTION_DAYS = 0
    assert "Parcels cannot be corrected" in ana.get(correct).content.decode()


def test_a_refusal_as_out_of_stock_may_name_the_restock_date(ana, work, page):
    refused = move(ana, page, "reject-out-of-stock", expected_at="2020-01-01", **units(work, 2))
    assert "past" in refused.content.decode()
    assert state(work) == "new"
    day = timezone.now().date().isoformat()

    move(ana, page, "reject-out-of-stock", expected_at=day, **units(work, 2))

    assert Event.objects.get(type="fulfillment.rejected").data["expected_at"] == day


def test_slips_are_printed_for_chosen_orders_and_for_all_new_orders(ana, work, rival, page):
    slips = "/portal/orders/slips/"
    for answer in (ana.get(slips), ana.post(slips, {"chosen": work.pk})):
        assert answer["Content-Type"] == "application/pdf"
        assert answer.content.startswith(b"%PDF")
    move(ana, page, "accept")
    assert "There are no new orders." in ana.get(slips).content.decode()
    assert "Choose orders in the list first." in ana.post(slips, {"chosen": "x"}).content.decode()


def test_slips_of_too_many_new_orders_are_refused(ana, shop, work, pushed, monkeypatch):
    monkeypatch.setattr("portal.supplying.slips.MOST_SLIPS", 1)
    pushed(shop, {"sku": "LAMP", "quantity": 1})

    page = ana.get("/portal/orders/slips/", follow=True)

    assert said(page) == ["There are more than 1 orders. Choose some in the list."]

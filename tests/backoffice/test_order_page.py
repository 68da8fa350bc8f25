"""An order's page: its timeline, lines and fulfillments, and its actions."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from accounts.actors import Actor
from events.models import Event
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.backoffice.conftest import do, messages
from tests.factories import set_stock


def page_of(client, order):
    page = client.get(f"/admin/orders/order/{order.pk}/change/")
    assert page.status_code == 200
    return page


def buttons(page):
    return [action.name for action in page.context["record_actions"]]


def test_the_page_shows_lines_fulfillments_routing_and_history(operator, order, client_for, acme):
    fulfillment = order.fulfillments.get()
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "1Z-77"})

    text = page_of(operator, order).text
    assert "SKU LAN-1" in text
    assert "1Z-77" in text
    assert "Chosen for 2 of 2, all in stock." in text
    assert re.search(r"available, at \d+\.\d\d\sUSD\.", text), "no price with cents and currency"
    assert re.search(r"<td[^>]*>Order received</td>", text), "no cause of the routing decision"
    # 2 links in the tables of fulfillments and parcels; 4 in the history: accepted, shipped, created, stock
    # reserved
    assert text.count(f'href="/admin/fulfillments/fulfillment/{fulfillment.pk}/change/"') == 6
    assert [word in text for word in ("order.created", "fulfillment.accepted", "fulfillment.shipped")] == [
        True
    ] * 3


def rows_of(page, title):
    """Return the cells of the table below a heading, as text."""
    table = re.search(rf"<h2>{title}</h2>.*?<tbody>(.*?)</tbody>", page.text, re.DOTALL)
    assert table, f"no table {title}"
    rows = re.findall(r"<tr>(.*?)</tr>", table[1], re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
    return [[" ".join(strip_tags(cell).split()) for cell in row] for row in cells]


def test_the_page_shows_agreed_shipped_and_returned_units(
    operator, acme, shop, a_variant, pushed, client_for
):
    lantern = a_variant(acme, "LAN-1", stock=3, title="Storm lantern", wholesale_price="100")
    order = pushed(shop, {"sku": "LAN-1", "quantity": 5, "billed_amount": 120})
    work, supplier = order.fulfillments.get(), client_for(acme)
    lantern.change({"sku": "LAN-2", "title": "Lamp", "wholesale_price": Decimal(7)}, by=Actor.system("test"))
    parcel = {
        "tracking_number": "1Z-77",
        "carrier": "UPS",
        "lines": [{"id": work.lines.get().pk, "quantity": 2}],
    }
    back = {"reason": "broken", "return_lines": [{"sku": "LAN-1", "quantity": 2, "restock": True}]}
    supplier.put(f"fulfillments/{work.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{work.pk}/setStatus/shipped", parcel)
    assert supplier.post(f"fulfillments/{work.pk}/returns", back).status_code == 200

    page = page_of(operator, order)

    assert rows_of(page, "Lines") == [
        [
            "Storm lantern SKU LAN-1",
            "2 of 5 shipped 1 reserved 2 at suppliers without stock 2 returned",
            "Acme",
            "100.00 USD",
            "120.00 USD",
        ]
    ]
    assert rows_of(page, "Fulfillments")[0][-2] == "5 × LAN-1 at 100.00 USD 2 short"
    [[number, carrier, _, _, contents]] = rows_of(page, "Parcels")
    assert (number, carrier, contents.strip()) == ("1Z-77", "UPS", "2 × LAN-1")
    [[reason, *_, contents]] = rows_of(page, "Returns")
    assert (reason, contents.strip()) == ("broken", "2 × LAN-1 (2 back in stock)")


def test_the_page_asks_the_same_number_of_queries_for_any_number_of_lines(
    operator, acme, rival, shop, a_variant, pushed, django_assert_max_num_queries
):
    for number in range(4):
        a_variant(acme, f"A-{number}", stock=5)
        a_variant(rival, f"R-{number}", stock=5)
    lines = [{"sku": f"{letter}-{number}", "quantity": 1} for letter in "AR" for number in range(4)]
    small, large = pushed(shop, lines[0]), pushed(shop, *lines)

    def queries_for(order):
        with django_assert_max_num_queries(40) as asked:
            page_of(operator, order)
        return len(asked)

    page_of(operator, small)
    assert queries_for(large) == queries_for(small)


def test_the_page_shows_columns_with_values_only(operator, order):
    lines = page_of(operator, order).text.partition("<h2>Lines</h2>")[2].partition("</table>")[0]
    heads = [" ".join(strip_tags(head).split()) for head in re.findall(r"<th[^>]*>(.*?)</th>", lines)]
    assert heads == ["Item", "Units", "Supplier"]


def test_the_page_of_a_large_order_shows_fifty_lines_at_a_time(operator, acme, shop, a_variant, pushed):
    a_variant(acme, "A-1", title="Tent", stock=500)
    order = pushed(shop, *[{"sku": "A-1", "quantity": 1}] * 120)

    first, last = page_of(operator, order), operator.get(f"/admin/orders/order/{order.pk}/change/?lines=3")

    assert (len(rows_of(first, "Lines")), len(rows_of(last, "Lines"))) == (50, 20)
    assert "Lines 1–50 of 120" in first.text
    assert 'href="?lines=2#lines"' in first.text
    assert len(rows_of(last, "Routing decisions")) == 20
    assert "All 120 lines" in rows_of(first, "Fulfillments")[0][-2]
    assert len(first.content) < 150_000


def test_an_operator_holds_and_releases(operator, order, client_for, acme):
    page = do(operator, order, "hold")
    assert messages(page) == [f"Order {order.retailer_order_id} is held."]
    assert client_for(acme).get("fulfillments", {"filter": '{"fulfillment_state":"new"}'}).json() == []
    assert "release" in buttons(page)
    assert "hold" not in buttons(page)

    assert messages(do(operator, order, "release")) == [f"Order {order.retailer_order_id} is released."]
    assert len(client_for(acme).get("fulfillments", {"filter": '{"fulfillment_state":"new"}'}).json()) == 1
    assert Event.objects.get(type="order.held").actor == "user:olga"


def test_an_operator_corrects_an_address_and_the_supplier_captures_it_again(
    operator, order, fulfillment, client_for, acme
):
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    form = operator.get(f"/admin/orders/order/{order.pk}/do/correct-address/").context["form"]
    assert form["city"].value() == "London"

    shown = form["shown"].value()
    new = {"address1": "1 New Street", "city": "Bath", "country": "uk"}
    page = do(operator, order, "correct-address", **new, shown=shown)
    assert messages(page) == [f"The address was corrected; order {order.retailer_order_id} is received now."]
    [again] = supplier.get("fulfillments", {"filter": '{"fulfillment_state":"new"}'}).json()
    assert (again["shipping_address"]["address1"], again["shipping_address"]["city"]) == (
        "1 New Street",
        "Bath",
    )


def test_a_second_correction_of_an_address_reverts_nothing(operator, order):
    form = operator.get(f"/admin/orders/order/{order.pk}/do/correct-address/").context["form"]
    as_it_was = {name: form[name].value() for name in ("address1", "city", "country", "shown")}
    do(operator, order, "correct-address", **as_it_was | {"address1": "1 New Street"})

    page = do(operator, order, "correct-address", **as_it_was | {"city": "Bath"})

    [error] = page.context["form"].non_field_errors()
    assert error.startswith("olga corrected this address on ")
    assert page.context["form"]["city"].value() == "Bath"
    assert "Now: London" in page.text
    address = Order.objects.get().shipping_address
    assert (address["address1"], address["city"]) == ("1 New Street", "London")


def test_an_address_in_an_unknown_country_is_rejected(operator, order):
    page = do(operator, order, "correct-address", address1="1 New Street", country="Narnia")
    assert page.context["form"].errors == {"country": ["There is no country 'Narnia'."]}


def test_an_address_without_a_country_is_asked_for_again(operator, order):
    page = do(operator, order, "correct-address", address1="1 New Street", country=" ")
    assert page.context["form"].errors == {"country": ["This field is required."]}
    assert Order.objects.get().shipping_address["city"] == "London"


def test_refused_units_are_routed_again_when_stock_has_arrived(
    operator, order, fulfillment, client_for, acme
):
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/out_of_stock")
    set_stock(on_hand=9)

    page = do(operator, order, "route-again")
    order.refresh_from_db()
    assert f"is {order.processing_state} now" in messages(page)[0]
    assert "2 units were routed again, 2 of them found no supplier" in messages(page)[0]


def test_an_operator_cancels_refused_units(operator, order, fulfillment, client_for, acme):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/out_of_stock")
    units = sum(line.quantity for line in order.lines.all())
    page = do(operator, order, "drop-refused", reason="Discontinued")
    assert messages(page) == [
        f"{units} refused units are canceled; order {order.retailer_order_id} is canceled now."
    ]


def test_an_operator_cancels_and_the_supplier_is_asked(operator, order):
    page = do(operator, order, "cancel", reason="Fraud")
    assert messages(page) == [
        f"Order {order.retailer_order_id}: 0 units are canceled, 2 requested from their suppliers."
    ]
    assert order.fulfillments.get().state == "canceling"


def test_units_that_wait_for_an_address_are_shown_as_canceled_at_once(
    operator, order, fulfillment, client_for, acme
):
    """Their supplier does not work on them, so the cancellation asks no one."""
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")

    preview = operator.get(f"/admin/orders/order/{order.pk}/do/cancel/").text
    page = do(operator, order, "cancel", reason="Fraud")

    assert "2 units are canceled at once." in preview
    assert "2 units are canceled, 0 requested" in messages(page)[0]


def test_an_action_that_is_not_possible_any_more_is_reported_and_changes_nothing(
    operator, order, client_for, acme
):
    fulfillment = order.fulfillments.get()
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "T"})

    page = do(operator, order, "cancel")
    assert page.status_code == 200
    assert "nothing is left to cancel" in messages(page)[0]
    assert order.fulfillments.get().state == "shipped"


@pytest.mark.parametrize(
    "action", ["hold", "release", "cancel", "correct-address", "route-again", "drop-refused"]
)
def test_support_sees_the_page_and_cannot_act(support, order, action):
    assert buttons(page_of(support, order)) == []
    assert do(support, order, action).status_code == 403
    order.refresh_from_db()
    assert (order.held, order.processing_state) == (False, "received")


def test_opening_the_page_of_an_action_does_not_run_it(operator, order):
    assert operator.get(f"/admin/orders/order/{order.pk}/do/hold/").status_code == 200
    order.refresh_from_db()
    assert not order.held


@pytest.mark.parametrize("path", ["999999/change/", "999999/do/hold/", "1/do/no-such-action/", "x/change/"])
def test_a_missing_page_leads_back_home(operator, path):
    assert operator.get(f"/admin/orders/order/{path}").status_code in (302, 404)


def test_support_is_offered_no_action_on_the_list(support, order):
    page = support.get("/admin/orders/order/")
    assert page.context["action_form"] is None
    answer = support.post("/admin/orders/order/", {"action": "hold", "_selected_action": [order.pk]})
    assert answer.status_code in (200, 302, 403)
    order.refresh_from_db()
    assert not order.held


def test_the_list_finds_an_order_by_any_part_of_its_number(operator, order):
    def found(term):
        return operator.get("/admin/orders/order/", {"q": term}).context["cl"].result_count

    assert found(order.retailer_order_id) == 1
    assert found(str(order.pk)) == 1
    Order.objects.filter(pk=order.pk).update(retailer_order_id="SH-100874")
    assert found("0087") == 1
    assert found("00") == 0, "too short"
    assert found("9" * 40) == 0
    assert found("0") == 0


@pytest.fixture
def ended(order, fulfillment, client_for, acme):
    """Return an order whose units are all shipped."""
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "T"})
    return Order.objects.get(pk=order.pk)


def test_a_finished_order_cannot_be_held(operator, ended, client_for, shop):
    seen, events = client_for(shop).get("orders").json(), Event.objects.count()
    assert "hold" not in buttons(page_of(operator, ended))

    page = do(operator, ended, "hold")

    assert messages(page) == [
        "A completed or canceled order cannot be held: no work is left.",
    ]
    assert client_for(shop).get("orders").json() == seen
    assert Event.objects.count() == events


def test_a_held_orders_fulfillments_offer_no_work(operator, order, fulfillment):
    do(operator, order, "hold")
    page = operator.get(f"/admin/fulfillments/fulfillment/{fulfillment.pk}/change/")

    assert buttons(page) == ["withdraw", "request-cancelation"]
    assert "operator holds the order" in messages(do(operator, fulfillment, "accept"))[0]


def test_a_held_order_is_not_called_overdue(operator, order, fulfillment):
    Fulfillment.objects.update(due_at=timezone.now() - timedelta(hours=1))
    work = f"/admin/fulfillments/fulfillment/{fulfillment.pk}/change/"
    assert "Overdue since" in page_of(operator, order).text
    assert "This fulfillment is overdue" in operator.get(work).text

    do(operator, order, "hold")

    held = page_of(operator, order).text
    assert "The order is held" in held
    assert "Overdue since" not in held
    assert "This fulfillment is overdue" not in operator.get(work).text


def test_the_page_shows_cancellation_requests_and_waiting_units(
    operator, order, fulfillment, client_for, shop, acme
):
    acme.partnerships.update(hours_to_answer=4)
    assert "Cancel requests" not in page_of(operator, order).text
    body = {"lines": [{"sku": "LAN-1", "quantity": 1}], "cancel_id": "C-77", "reason": "one is enough"}
    client_for(shop).post(f"orders/{order.pk}/cancel", body)
    do(operator, order, "cancel", reason="none at all")

    page = page_of(operator, order)

    asked = [
        (each["event"].actor.partition(":")[0], each["asked"]) for each in page.context["cancel_requests"]
    ]
    assert asked == [("key", [("line 1", 1)]), ("user", [("line 1", 1)])]
    assert [word in page.text for word in ("C-77", "one is enough", "none at all")] == [True] * 3
    waiting = page.text.partition("has not answered for")[2][:200]
    assert "2 × LAN-1" in waiting
    assert "(due " in page.text


def test_a_cancellation_is_offered_until_all_units_are_requested(
    operator, order, fulfillment, client_for, shop
):
    def offered():
        page = operator.get(f"/admin/fulfillments/fulfillment/{fulfillment.pk}/change/")
        return "request-cancelation" in buttons(page)

    body = {"lines": [{"sku": "LAN-1", "quantity": 1}]}
    client_for(shop).post(f"orders/{order.pk}/cancel", body)
    assert offered()
    do(operator, fulfillment, "request-cancelation")

    assert fulfillment.lines.get().cancel_requested == 2
    assert not offered()
    assert messages(do(operator, fulfillment, "request-cancelation")) == [
        "The cancellation of all open units is already requested."
    ]


def test_a_refused_address_goes_back_unchanged_only_with_a_reason(
    operator, order, fulfillment, client_for, acme
):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    for record in (order, fulfillment):
        meta = record._meta
        path = f"/admin/{meta.app_label}/{meta.model_name}/{record.pk}/do/correct-address/"
        form = operator.get(path).context["form"]
        as_it_is = {name: form[name].value() for name in form.fields if form[name].value()}
        page = operator.post(path, as_it_is)
        assert page.context["form"].errors == {
            "reason": [
                "The supplier has refused this address. Correct it, or give the reason why it is right."
            ]
        }
        assert page.context["form"]["address1"].value() == order.shipping_address["address1"]
    fulfillment.refresh_from_db()
    assert fulfillment.state == "wrong_address"

    operator.post(path, as_it_is | {"reason": "The customer confirmed it"})
    fulfillment.refresh_from_db()
    assert fulfillment.state == "new"
    assert not Event.objects.filter(type="order.address_corrected").exists()


def test_units_refused_for_their_address_are_routed_again_with_a_correction_or_a_reason(
    operator, order, fulfillment, client_for, acme
):
    one = {"reason": "wrong_address", "items": [{"sku": "LAN-1", "quantity": 1}]}
    client_for(acme).post("fulfillments/rejections", [{"id": fulfillment.pk, **one}])
    path = f"/admin/orders/order/{order.pk}/do/correct-address/"
    shown = operator.get(path)
    assert "open units. 1 refused unit is routed again." in shown.text
    form = shown.context["form"]
    as_it_is = {name: form[name].value() for name in form.fields if form[name].value()}

    assert "reason" in operator.post(path, as_it_is).context["form"].errors
    operator.post(path, as_it_is | {"reason": "The customer confirmed it"})

    order.refresh_from_db()
    assert order.processing_state == "received"
    assert [line.rejected for line in order.lines.all()] == [0]


def test_an_unchanged_address_is_reported_as_unchanged(operator, order):
    events = Event.objects.count()
    form = operator.get(f"/admin/orders/order/{order.pk}/do/correct-address/").context["form"]
    as_it_is = {name: form[name].value() for name in form.fields if form[name].value()}

    page = do(operator, order, "correct-address", **as_it_is)

    assert messages(page) == ["The form has the same address; nothing was changed."]
    assert Event.objects.count() == events


def remedies(client, order):
    """Return the path of each remedy on the order's page, without its parameters."""
    steps = page_of(client, order).context["steps"]
    return [url.partition("?")[0] for _, url in steps if url]


def test_each_problem_has_its_remedy_in_the_banner(operator, support, order, fulfillment, client_for, acme):
    assert remedies(operator, order) == [], "the supplier still has time"
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    assert remedies(operator, order) == [f"/admin/orders/order/{order.pk}/do/correct-address/"]
    assert remedies(support, order) == [], "support may only view"
    do(operator, order, "hold", reason="Fraud?")
    assert f"/admin/orders/order/{order.pk}/do/release/" in remedies(operator, order)


def test_an_overdue_fulfillment_is_reassigned_from_the_banner_and_from_its_row(operator, order, fulfillment):
    type(fulfillment).objects.filter(pk=fulfillment.pk).update(due_at="2026-01-01T00:00Z")
    path = f"/admin/fulfillments/fulfillment/{fulfillment.pk}/do/withdraw/"
    assert remedies(operator, order) == [path]
    way_back = f"?next=%2Fadmin%2Forders%2Forder%2F{order.pk}%2Fchange%2F"
    assert page_of(operator, order).text.count(f'href="{path}{way_back}"') == 2


def test_a_line_shows_its_picture_only_after_a_click(operator, acme, shop, a_variant, pushed):
    a_variant(acme, "LAN-1", stock=9, images="https://pictures.test/lan.jpg")
    order = pushed(shop, {"sku": "LAN-1", "quantity": 1})
    page = operator.get(f"/admin/orders/order/{order.pk}/change/")
    assert 'href="https://pictures.test/lan.jpg" rel="noreferrer noopener"' in page.text
    assert "pictures.test" not in page.text.replace('href="https://pictures.test/lan.jpg"', "")
    assert "img-src 'self' data: https:" in page.headers["Content-Security-Policy"]

"""A fulfillment's page offers exactly the moves that the table of moves allows in its state."""

import pytest

from accounts.actors import Actor, ActorKind
from fulfillments.models import Fulfillment
from fulfillments.states import CANCEL_UNCAPTURED, MOVES, State, moves_from
from tests.backoffice.conftest import choose, confirm, do, messages
from tests.factories import set_stock
from tests.orders.push_bodies import an_order


def page_of(client, fulfillment):
    page = client.get(f"/admin/fulfillments/fulfillment/{fulfillment.pk}/change/")
    assert page.status_code == 200
    return page


@pytest.mark.parametrize("state", State)
def test_the_buttons_are_the_moves_that_the_state_allows(operator, fulfillment, state):
    Fulfillment.objects.update(state=state)
    offered = {action.name for action in page_of(operator, fulfillment).context["record_actions"]}
    moves = {*moves_from(state, ActorKind.OPERATOR)} - {CANCEL_UNCAPTURED}  # *Cancel order* makes this move
    assert offered == {move.name.replace("_", "-") for move in moves}


def test_support_sees_no_buttons(support, fulfillment):
    assert page_of(support, fulfillment).context["record_actions"] == []
    for move in MOVES:
        assert do(support, fulfillment, move.name.replace("_", "-"), tracking_number="T").status_code == 403
    assert Fulfillment.objects.get().state == State.NEW


def test_an_operator_accepts_and_ships_for_the_supplier(operator, fulfillment):
    assert messages(do(operator, fulfillment, "accept")) == [f"Fulfillment {fulfillment.pk} was accepted."]
    page = do(operator, fulfillment, "ship", tracking_number="1Z-9", carrier="UPS")
    assert messages(page) == ["The parcel 1Z-9 was recorded."]
    assert "by olga" in page.text
    assert Fulfillment.objects.get().state == State.SHIPPED


def test_a_repeated_parcel_is_reported_as_unchanged(operator, fulfillment):
    do(operator, fulfillment, "accept")
    one_unit = {f"line_{fulfillment.lines.get().pk}": "1"}
    do(operator, fulfillment, "ship", tracking_number="1Z-9", **one_unit)
    page = do(operator, fulfillment, "ship", tracking_number="1Z-9", **one_unit)
    assert messages(page) == ["The parcel 1Z-9 was recorded before. Another parcel needs its own number."]
    assert fulfillment.shipments.count() == 1


def test_the_page_names_no_state_by_its_code(operator, fulfillment):
    do(operator, fulfillment, "reject-wrong-address")
    page = page_of(operator, fulfillment).content.decode()
    assert f"<title>fulfillment {fulfillment.pk} | The Exchange</title>" in page
    assert '<td data-label="Reason"><span class="ui-badge ui-bad">Wrong address</span></td>' in page


def test_a_shipped_fulfillment_is_not_shipped_again(operator, fulfillment):
    do(operator, fulfillment, "accept")
    do(operator, fulfillment, "ship", tracking_number="1Z-9")
    page = do(operator, fulfillment, "ship", tracking_number="1Z-10")
    assert "All units are shipped." in page.text
    assert fulfillment.shipments.count() == 1


def test_the_page_shows_agreed_lines_and_the_items_of_parcels_refusals_and_returns(
    operator, fulfillment, client_for, acme
):
    supplier, line = client_for(acme), fulfillment.lines.get()
    line.variant.change({"sku": "LAN-2", "title": "Lamp"}, by=Actor.system("test"))
    refusal = {"id": fulfillment.pk, "items": [{"sku": "LAN-1", "quantity": 1}], "reason": "out_of_stock"}
    back = {"reason": "broken", "return_lines": [{"sku": "LAN-1", "quantity": 1}]}
    for answer in (
        supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted"),
        supplier.post("fulfillments/rejections", [refusal]),
        supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "1Z-77"}),
        supplier.post(f"fulfillments/{fulfillment.pk}/returns", back),
    ):
        assert answer.status_code == 200, answer.content

    text = page_of(operator, fulfillment).text

    assert line.title in text
    held, happened = text.split("<h2>History</h2>")
    assert held.count("1 × LAN-1") == 3
    assert happened.count("1 × LAN-1") >= 3
    assert "LAN-2" not in text


FORBIDDEN = [move for move in MOVES if State.MISSING_SKU not in (move.repeated_in, *move.sources)]
FORBIDDEN.remove(CANCEL_UNCAPTURED)  # no button makes this move


@pytest.mark.parametrize("move", FORBIDDEN, ids=lambda move: move.name)
def test_a_move_that_the_state_forbids_is_reported_and_changes_nothing(operator, fulfillment, move):
    Fulfillment.objects.update(state=State.MISSING_SKU)
    page = do(operator, fulfillment, move.name.replace("_", "-"), tracking_number="T")
    assert page.status_code == 200
    assert "'missing_sku' cannot be" in messages(page)[0]
    assert Fulfillment.objects.get().state == State.MISSING_SKU


@pytest.mark.parametrize(
    ("action", "state"),
    [
        ("reject-out-of-stock", State.OUT_OF_STOCK),
        ("reject-missing-sku", State.MISSING_SKU),
        ("reject-wrong-address", State.WRONG_ADDRESS),
        ("request-cancelation", State.CANCELING),
    ],
)
def test_an_operator_rejects_units_or_requests_their_cancellation(operator, fulfillment, action, state):
    do(operator, fulfillment, action)
    assert Fulfillment.objects.get(pk=fulfillment.pk).state == state


@pytest.mark.parametrize(
    ("action", "state"),
    [("approve-cancelation", State.CANCELED), ("refuse-cancelation", State.CANCELATION_NOT_ALLOWED)],
)
def test_an_operator_answers_cancellations_in_bulk(operator, fulfillment, action, state):
    do(operator, fulfillment, "request-cancelation")
    chosen = choose(operator, Fulfillment, action, [fulfillment])
    assert Fulfillment.objects.get().state == State.CANCELING
    confirm(operator, chosen)
    assert Fulfillment.objects.get().state == state


def test_an_operator_cancels_a_fulfillment_whose_address_stays_wrong(operator, fulfillment, order):
    do(operator, fulfillment, "reject-wrong-address")
    do(operator, fulfillment, "give-up")
    order.refresh_from_db()
    assert order.processing_state == "canceled"


def test_a_fulfillment_is_found_by_its_orders_number(operator, fulfillment, order):
    page = operator.get("/admin/fulfillments/fulfillment/", {"q": order.retailer_order_id})
    assert page.context["cl"].result_count == 1


def test_a_fulfillment_is_found_by_the_number_of_its_parcel(operator, fulfillment):
    do(operator, fulfillment, "accept")
    do(operator, fulfillment, "ship", tracking_number="1Z-FIND-ME")

    found = operator.get("/admin/fulfillments/fulfillment/?q=1Z-FIND-ME").context["cl"].result_list
    other = operator.get("/admin/fulfillments/fulfillment/?q=1Z-OTHER").context["cl"].result_list

    assert [each.pk for each in found] == [fulfillment.pk]
    assert list(other) == []


def test_the_action_correct_address_has_one_name_on_the_desk_and_the_page(
    operator, fulfillment, client_for, acme
):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    [item] = operator.get("/admin/desk/").context["items"]
    [url] = [url for label, url in item.actions if label == "Correct address"]
    assert "<h1>Correct address</h1>" in operator.get(url).text
    offered = {
        action.name: action.label for action in page_of(operator, fulfillment).context["record_actions"]
    }
    assert offered["correct-address"] == "Correct address"


def test_confirming_many_addresses_is_shown_in_the_list_and_the_audit_log(
    operator, fulfillment, pushed, shop, client_for, acme
):
    works = [fulfillment, pushed(shop, {"sku": "LAN-1", "quantity": 1}).fulfillments.get()]
    for work in works:
        client_for(acme).put(f"fulfillments/{work.pk}/setStatus/wrong_address")
    assert "Confirm address …" in operator.get("/admin/fulfillments/fulfillment/").text

    page = choose(operator, Fulfillment, "correct-address", works)
    assert 'value="Confirm address: 2"' in page.text
    confirm(operator, page)

    assert {each.state for each in Fulfillment.objects.all()} == {State.NEW}
    assert "Confirm address" in [entry.what for entry in operator.get("/admin/activity/").context["entries"]]


def test_without_another_supplier_the_page_gives_the_reason_and_no_button(
    operator, fulfillment, rival, a_variant
):
    a_variant(rival, "LAN-1", stock=0)
    path = f"/admin/fulfillments/fulfillment/{fulfillment.pk}/do/withdraw/"

    page = operator.get(path).text

    assert "The other suppliers do not have any of the units." in page
    assert "Has the fulfillment now." in page
    assert 'type="submit"' not in page.partition('id="content"')[2]
    set_stock(on_hand=12)
    assert 'value="Reassign fulfillment"' in operator.get(path).text


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"sku": "LAN-1"}, "The order names sku LAN-1 and no UPC."),
        ({"upc": "036000291452"}, "The order names UPC 036000291452."),
        (
            {"sku": "LAN-1", "supplier_id": "{supplier}"},
            "The order names its supplier, so no other supplier is a candidate.",
        ),
        ({"variant_id": "{variant}"}, "The order names variant {variant}, which no other supplier has."),
    ],
)
def test_the_page_explains_the_candidates(operator, acme, shop, client_for, a_variant, asked, sentence):
    variant = a_variant(acme, "LAN-1", stock=5, upc="036000291452")
    numbers = {"supplier_id": acme.pk, "variant_id": variant.pk}
    line = {name: numbers.get(name, value) for name, value in asked.items()}
    client_for(shop).post("orders", an_order({**line, "quantity": 2}))

    page = operator.get(f"/admin/fulfillments/fulfillment/{Fulfillment.objects.get().pk}/do/withdraw/").text

    assert sentence.format(variant=variant.pk) in page


def test_a_part_of_the_units_goes_to_a_supplier_that_has_only_a_part(operator, fulfillment, rival, a_variant):
    a_variant(rival, "LAN-1", stock=1)
    line = fulfillment.lines.get()
    page = operator.get(f"/admin/fulfillments/fulfillment/{fulfillment.pk}/do/withdraw/").text
    assert "Not enough: 1 of 2, and no one else has the rest." in page
    assert "Rival (has a part)" in page

    do(
        operator,
        fulfillment,
        "withdraw",
        reason="Too slow",
        supplier=str(rival.pk),
        **{f"line_{line.pk}": "1"},
    )

    other = Fulfillment.objects.get(supplier=rival)
    assert [each.quantity for each in other.lines.all()] == [1]
    line.refresh_from_db()
    assert (line.open, line.rejected) == (1, 1)
    assert Fulfillment.objects.get(pk=fulfillment.pk).state == State.NEW


def test_a_part_of_the_units_is_shipped_and_returned(operator, fulfillment):
    field = f"line_{fulfillment.lines.get().pk}"
    do(operator, fulfillment, "accept")
    do(operator, fulfillment, "ship", tracking_number="1Z", **{field: "1"})
    line = fulfillment.lines.get()
    assert (line.shipped, line.open) == (1, 1)
    page = do(operator, fulfillment, "ship", tracking_number="2Z", **{field: "0"})
    assert "All lines have 0 units." in page.text
    page = do(operator, fulfillment, "return", reason="Broken", **{field: "2"})
    assert "Ensure this value is less than or equal to 1." in page.text

    do(operator, fulfillment, "return", reason="Broken", restock="on", **{field: "1"})
    [returned] = fulfillment.returns.all()
    assert (returned.reason, fulfillment.lines.get().returned) == ("Broken", 1)


def test_a_return_is_recorded_on_the_line_of_its_field(operator, acme, shop, client_for, a_variant):
    """The retailer refunds the order line that the return names, and the lines may have other amounts."""
    a_variant(acme, "LAN-1", stock=5)
    client_for(shop).post(
        "orders", an_order({"sku": "LAN-1", "quantity": 2}, {"sku": "LAN-1", "quantity": 2})
    )
    fulfillment = Fulfillment.objects.get()
    do(operator, fulfillment, "accept")
    do(operator, fulfillment, "ship", tracking_number="1Z")
    first, second = fulfillment.lines.order_by("pk")

    units = {f"line_{first.pk}": "0", f"line_{second.pk}": "2"}
    do(operator, fulfillment, "return", reason="Broken", restock="on", **units)

    assert fulfillment.returns.get().items == [{"line": second.pk, "quantity": 2, "restocked": 2}]

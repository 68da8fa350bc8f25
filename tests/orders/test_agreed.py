"""A routed line keeps the values that its variant had at that moment (contract 3)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db.models import ProtectedError

from catalog.models import Variant
from fulfillments.models import Fulfillment
from orders.next_steps import totals
from tests.factories import set_stock
from tests.orders.fixtures import OPERATOR, line_units, state_of, status

AGREED = {"sku": "LAMP", "upc": "036000291452", "title": "A lamp", "wholesale_price": 7.5}
LATER = {"sku": "LAMP-2", "upc": "042100005264", "title": "Another lamp", "wholesale_price": 99}


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", stock=10, upc=AGREED["upc"], title="A lamp", wholesale_price="7.5")


@pytest.fixture
def placed(lamp, push, acme, work_of):
    """Push an order of four lamps by their UPC, and return Acme's fulfillment."""
    return work_of(push({"upc": AGREED["upc"], "quantity": 4}), acme)


def change(api, variant, **fields):
    answer = api.request("PATCH", f"variants/{variant.pk}", fields)
    assert answer.status_code == 200, answer.content


def lines_of(api, work) -> list[dict[str, object]]:
    lines = api.get(f"fulfillments/{work.pk}").json()["lines"]
    return [{name: line[name] for name in AGREED} for line in lines]


@pytest.mark.parametrize("name", AGREED)
def test_a_fulfillments_line_keeps_the_agreed_values_of_its_variant(name, placed, lamp, acme_api):
    change(acme_api, lamp, **{name: LATER[name]})

    [captured] = acme_api.get("fulfillments").json()
    assert {each: captured["lines"][0][each] for each in AGREED} == AGREED
    assert lines_of(acme_api, placed) == [AGREED]


def test_without_a_wholesale_price_no_price_is_agreed(acme, a_variant, push, work_of, acme_api):
    rug = a_variant(acme, "RUG", stock=1)
    work = work_of(push({"sku": "RUG", "quantity": 1}), acme)

    change(acme_api, rug, wholesale_price=3)

    assert [line["wholesale_price"] for line in lines_of(acme_api, work)] == [None]


def test_an_orders_line_keeps_the_title(placed, lamp, acme_api, shop_api):
    change(acme_api, lamp, **LATER)

    [line] = shop_api.get(f"orders/{placed.order_id}").json()["order_lines"]
    assert (line["title"], line["upc"], line["sku"]) == ("A lamp", AGREED["upc"], "")


def test_an_orders_line_has_the_title_of_the_chosen_variant(acme, rival, a_variant, push, shop_api):
    a_variant(acme, "LAMP", stock=1, wholesale_price="9", title="The dear one")
    a_variant(rival, "LAMP", stock=1, wholesale_price="1", title="The cheap one")

    order = push({"sku": "LAMP", "quantity": 1})

    assert shop_api.get(f"orders/{order.pk}").json()["order_lines"][0]["title"] == "The cheap one"


@pytest.mark.parametrize("names", [{"sku": "LAMP"}, {"sku": "LAMP-2"}, {"upc": AGREED["upc"]}])
def test_a_parcel_is_shipped_by_the_agreed_name_or_by_todays(names, placed, lamp, acme_api):
    change(acme_api, lamp, **LATER)
    acme_api.put(status(placed, "accepted"))
    parcel = {"tracking_number": "T", "items": [{**names, "quantity": 4}]}

    answer = acme_api.post("fulfillments/shipments", {"id": placed.pk, "shipments": [parcel]})

    assert (answer.status_code, state_of(placed)) == (200, "shipped")


def test_an_agreed_sku_does_not_match_another_variant_that_has_it_now(
    placed, lamp, acme, a_variant, push, acme_api
):
    """The old lamp is now LAMP-2, and a new lamp is LAMP. A line routed as LAMP is still the old lamp."""
    change(acme_api, lamp, sku="LAMP-2")
    new = a_variant(acme, "LAMP", stock=5)
    acme_api.put(status(placed, "accepted"))
    refusal = [{"id": placed.pk, "items": [{"sku": "LAMP", "quantity": 4}], "reason": "out_of_stock"}]

    assert acme_api.post("fulfillments/rejections", refusal).status_code == 200

    assert [lamp.stock.get().on_hand, new.stock.get().on_hand] == [0, 5]


def test_a_deleted_variant_is_shown_with_its_agreed_names(placed, lamp, acme_api):
    change(acme_api, lamp, sku="LAMP-2")
    acme_api.put(status(placed, "accepted"))
    parcel = {"tracking_number": "T", "items": [{"sku": "RUG", "quantity": 1}]}

    answer = acme_api.post("fulfillments/shipments", {"id": placed.pk, "shipments": [parcel]})

    assert "RUG is not in this fulfillment; its lines have LAMP." in answer.json()["message"]


def test_a_retailer_cancels_by_the_agreed_sku(placed, lamp, acme_api, shop_api):
    change(acme_api, lamp, sku="LAMP-2")

    answer = shop_api.post(f"orders/{placed.order_id}/cancel", {"lines": [{"sku": "LAMP", "quantity": 1}]})

    assert answer.json()["code"] == "cancel_requested", answer.content


def test_units_that_are_added_later_have_the_price_of_that_time(
    acme, rival, a_variant, push, work_of, acme_api, rival_api
):
    """Each supplier gets three of six lamps.

    Acme refuses its lamps before Rival, the dearer supplier, has captured.
    """
    a_variant(acme, "LAMP", stock=3, wholesale_price="1")
    dear = a_variant(rival, "LAMP", stock=3, wholesale_price="7", title="A lamp")
    order = push({"sku": "LAMP", "quantity": 6})
    change(rival_api, dear, wholesale_price=9, title="A better lamp")
    set_stock(on_hand=10, variant=dear)

    assert acme_api.put(status(work_of(order, acme), "out_of_stock")).status_code == 200

    [joined] = rival_api.get("fulfillments").json()
    shown = [(line["title"], line["wholesale_price"], line["quantity"]) for line in joined["lines"]]
    assert shown == [("A lamp", 7, 3), ("A better lamp", 9, 3)]


def test_units_of_two_prices_are_shipped_from_the_oldest_line_on(
    acme, rival, a_variant, push, work_of, acme_api, rival_api
):
    test_units_that_are_added_later_have_the_price_of_that_time(
        acme, rival, a_variant, push, work_of, acme_api, rival_api
    )
    work = Fulfillment.objects.get(supplier=rival)
    rival_api.put(status(work, "accepted"))
    parcel = {"tracking_number": "T", "items": [{"sku": "LAMP", "quantity": 4}]}

    rival_api.post("fulfillments/shipments", {"id": work.pk, "shipments": [parcel]})

    lines = rival_api.get(f"fulfillments/{work.pk}").json()["lines"]
    assert [line["quantity_shipped"] for line in lines] == [3, 1]


def test_a_delisted_variant_keeps_its_agreed_values(placed, lamp, acme_api):
    lamp.change({"listed": False, "title": "Gone"}, by=OPERATOR)

    assert lines_of(acme_api, placed) == [AGREED]


@pytest.mark.usefixtures("placed")
def test_a_variant_of_a_placed_line_cannot_be_deleted(lamp):
    with pytest.raises(ProtectedError):
        lamp.delete()


def test_a_supplier_sees_reserved_and_short_units(lamp, acme, push, work_of, acme_api):
    work = work_of(push({"variant_id": lamp.pk, "quantity": 13}), acme)

    def shown():
        [line] = acme_api.get(f"fulfillments/{work.pk}").json()["lines"]
        return [line[name] for name in ("quantity", "quantity_reserved", "quantity_shipped", "short")]

    assert shown() == [13, 10, 0, 3]
    acme_api.put(status(work, "accepted"))
    line_units = {"id": work.lines.get().pk, "quantity": 4}
    acme_api.put(status(work, "shipped"), {"tracking_number": "T", "lines": [line_units]})
    assert shown() == [13, 6, 4, 3]


def test_the_retailer_reads_the_price_that_was_agreed(acme, a_variant, push, shop_api):
    lamp = a_variant(acme, "LAMP", stock=10, wholesale_price="10.50")
    free = a_variant(acme, "MAT", stock=10, wholesale_price=None)
    order = push({"sku": "LAMP", "quantity": 3}, {"sku": "MAT", "quantity": 1})
    Variant.objects.filter(pk__in=[lamp.pk, free.pk]).update(wholesale_price="99")

    read = shop_api.get(f"orders/{order.pk}").json()

    first, second = (line["id"] for line in read["order_lines"])
    [fulfillment] = read["fulfillments"]
    assert fulfillment["lines"] == [
        {"order_line_id": first, "sku": "LAMP", "quantity": 3, "wholesale_price": 10.5},
        {"order_line_id": second, "sku": "MAT", "quantity": 1, "wholesale_price": None},
    ]
    [listed] = shop_api.get("orders").json()["results"]
    assert listed["fulfillments"] == read["fulfillments"]


def test_a_line_says_how_many_units_are_open(work, an_order_at_acme, acme_api, shop_api):
    """A client that computes this number from the shipped units would ship canceled units."""
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "A", "lines": [line_units(work, "LAMP", 1)]})
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 1}]})
    acme_api.put(status(work), {"status": "canceled"})

    lamps, mats = acme_api.get(f"fulfillments/{work.pk}").json()["lines"]
    assert (lamps["quantity"], lamps["quantity_open"], mats["quantity_open"]) == (3, 1, 2)
    lamps, mats = shop_api.get(f"orders/{an_order_at_acme.pk}").json()["order_lines"]
    assert (lamps["quantity_open"], mats["quantity_open"]) == (1, 2)


def test_the_agreed_prices_of_an_order_count_no_refused_units(
    acme, rival, a_variant, push, work_of, acme_api
):
    a_variant(acme, "LAMP", stock=10, wholesale_price="10")
    a_variant(rival, "LAMP", stock=10, wholesale_price="11")
    order = push({"sku": "LAMP", "quantity": 3})
    acme_api.put(status(work_of(order, acme), "out_of_stock"))

    assert totals(order.lines.all(), order.fulfillments.all()).wholesale == {"USD": Decimal(33)}

"""A retailer's view of its parcels and returns, by the lines of its own order (contract 4)."""

from __future__ import annotations

import pytest

from fulfillments.models import Fulfillment
from tests.factories import set_stock
from tests.orders.fixtures import line_units, status


@pytest.fixture
def travelled(work: Fulfillment, acme_api) -> Fulfillment:
    """Ship three lamps and two mats in two parcels; return two lamps and a mat."""
    parcel = {"tracking_number": "T-1", "carrier": "UPS", "lines": [line_units(work, "LAMP", 2)]}
    back = [{"sku": "LAMP", "quantity": 2, "restock": True}, {"sku": "MAT", "quantity": 1}]
    for answer in (
        acme_api.put(status(work, "accepted")),
        acme_api.put(status(work, "shipped"), parcel),
        acme_api.put(status(work, "shipped"), {"tracking_number": "T-2"}),
        acme_api.post(
            f"fulfillments/{work.pk}/returns",
            {"reason": "broken", "return_id": "RMA-7", "return_lines": back},
        ),
    ):
        assert answer.status_code == 200, answer.content
    return work


@pytest.fixture(autouse=True)
def _numbers_apart(acme, rival, shop, a_variant, push) -> None:
    """Split an order line into two fulfillment lines, so that later ids of both kinds of lines differ."""
    for supplier in (acme, rival):
        a_variant(supplier, "RUG", stock=1)
    push({"sku": "RUG", "quantity": 2})


@pytest.fixture
def lines(work) -> dict[str, int]:
    """Return the ids of the order's lines by sku."""
    return dict(work.order.lines.values_list("sku", "pk"))


def items(lines, **pieces):
    return [
        {"order_line_id": lines[sku], "sku": sku, "quantity": quantity} for sku, quantity in pieces.items()
    ]


def test_a_retailer_sees_each_parcel_with_its_items(travelled, lines, shop_api):
    [shown] = shop_api.get(f"orders/{travelled.order_id}").json()["fulfillments"]

    moments = [parcel.pop("shipped_at") for parcel in shown["shipments"]]
    assert all(moment.endswith("Z") for moment in moments)
    assert all(parcel.pop("id") for parcel in shown["shipments"])
    assert shown["shipments"] == [
        {
            "tracking_number": "T-1",
            "carrier": "UPS",
            "tracking_url": "https://wwwapps.ups.com/WebTracking/track?track=yes&trackNums=T-1",
            "items": items(lines, LAMP=2),
        },
        {"tracking_number": "T-2", "carrier": "", "tracking_url": None, "items": items(lines, LAMP=1, MAT=2)},
    ]
    assert shown["tracking_numbers"] == ["T-1", "T-2"]


def test_a_retailer_sees_returned_units(travelled, lines, shop_api):
    shown = shop_api.get(f"orders/{travelled.order_id}").json()

    [back] = shown["fulfillments"][0]["returns"]
    assert back.pop("returned_at").endswith("Z")
    assert back == {"return_id": "RMA-7", "reason": "broken", "items": items(lines, LAMP=2, MAT=1)}
    assert {line["sku"]: line["quantity_returned"] for line in shown["order_lines"]} == {"LAMP": 2, "MAT": 1}


def test_unshipped_lines_have_no_parcels(work, shop_api):
    [shown] = shop_api.get(f"orders/{work.order_id}").json()["fulfillments"]

    assert (shown["tracking_numbers"], shown["shipments"], shown["returns"]) == ([], [], [])


def test_units_of_one_line_routed_in_two_steps_are_one_item_of_a_parcel(
    acme, rival, a_variant, push, work_of, acme_api, rival_api, shop_api
):
    a_variant(acme, "LAMP", stock=3, wholesale_price="1")
    dear = a_variant(rival, "LAMP", stock=3, wholesale_price="7")
    order = push({"sku": "LAMP", "quantity": 6})
    set_stock(on_hand=10, variant=dear)
    acme_api.put(status(work_of(order, acme), "out_of_stock"))
    joined = work_of(order, rival)

    rival_api.put(status(joined, "accepted"))
    rival_api.put(status(joined, "shipped"), {"tracking_number": "T"})

    answer = shop_api.get(f"orders/{order.pk}").json()
    [shown] = [each for each in answer["fulfillments"] if each["id"] == joined.pk]
    assert joined.lines.count() == 2
    assert shown["shipments"][0]["items"] == [
        {"order_line_id": order.lines.get().pk, "sku": "LAMP", "quantity": 6}
    ]


def test_a_supplier_reads_the_ids_of_its_own_lines(travelled, acme_api):
    own = dict(travelled.lines.values_list("sku", "pk"))

    [back] = acme_api.get(f"fulfillments/{travelled.pk}").json()["returns"]

    assert [(item["line_id"], item["restocked"]) for item in back["items"]] == [
        (own["LAMP"], 2),
        (own["MAT"], 0),
    ]


@pytest.mark.parametrize("count", [1, 6])
def test_any_number_of_parcels_costs_the_same(
    count, acme, a_variant, push, work_of, acme_api, shop_api, django_assert_num_queries
):
    for number in range(count):
        a_variant(acme, f"LAMP-{number}", stock=100)
    for number in range(count):
        work = work_of(push(*({"sku": f"LAMP-{each}", "quantity": 1} for each in range(count))), acme)
        acme_api.put(status(work, "accepted"))
        acme_api.put(status(work, "shipped"), {"tracking_number": f"T-{number}"})
        back = {"reason": "broken", "return_lines": [{"sku": "LAMP-0", "quantity": 1}]}
        acme_api.post(f"fulfillments/{work.pk}/returns", back)

    # Queries: the key; the orders; their lines and fulfillments; parcels and returns; the lines of parcels
    # and of returns.
    with django_assert_num_queries(7):
        [_, *listed] = shop_api.get("orders").json()["results"]
    assert [len(each["fulfillments"][0]["shipments"][0]["items"]) for each in listed] == [count] * count


# --- Events --------------------------------------------------------------------------------------


def events(api, *types):
    return [each for each in api.get("events").json()["results"] if not types or each["type"] in types]


def test_events_name_lines_by_the_ids_of_their_reader(travelled, lines, acme_api, shop_api):
    own = dict(travelled.lines.values_list("sku", "pk"))
    kinds = ("fulfillment.shipped", "fulfillment.returned", "fulfillment.restocked")

    def pieces(api):
        return [(each["type"], each["data"]["items"]) for each in events(api, *kinds)]

    assert pieces(shop_api) == [
        (kind, [{"order_line_id": lines[sku], "quantity": quantity} for sku, quantity in sent.items()])
        for kind, sent in SENT
    ]
    assert pieces(acme_api) == [
        (kind, [{"line": own[sku], "quantity": quantity} for sku, quantity in sent.items()])
        for kind, sent in SENT
    ]


SENT = (
    ("fulfillment.shipped", {"LAMP": 2}),
    ("fulfillment.shipped", {"LAMP": 1, "MAT": 2}),
    ("fulfillment.returned", {"LAMP": 2, "MAT": 1}),
    ("fulfillment.restocked", {"LAMP": 2}),
)


def test_no_event_of_a_retailer_names_a_line_of_a_fulfillment(acme, a_variant, push, acme_api, shop_api):
    """Make every event with lines: refused in part, dropped, requested, canceled, shipped, returned."""
    a_variant(acme, "LAMP", stock=20)
    order = push({"sku": "LAMP", "quantity": 12})
    work = Fulfillment.objects.get(order=order)
    refusal = {"id": work.pk, "reject_id": "r", "items": [{"sku": "LAMP", "quantity": 3}]}
    for answer in (
        acme_api.put(status(work, "accepted")),
        acme_api.post("fulfillments/rejections", [refusal]),
        shop_api.post(f"orders/{order.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 5}]}),
        acme_api.put(status(work), {"status": "canceled"}),
        acme_api.put(status(work, "shipped"), {"tracking_number": "T"}),
    ):
        assert answer.status_code == 200, answer.content

    own = order.lines.get().pk
    named = [
        item["order_line_id"]
        for event in events(shop_api)
        for name in ("items", "added", "dropped")
        for item in event["data"].get(name, [])
    ]
    assert named == [own] * 7
    assert "'line'" not in str(events(shop_api))
    assert "order_line" not in str(events(acme_api))

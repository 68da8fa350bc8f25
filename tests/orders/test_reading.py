"""Reading an order, and listing, polling and counting orders (interface 4.17 to 4.19, contract 4)."""

from __future__ import annotations

import base64
import json
from collections import Counter

import pytest

from fulfillments.models import Fulfillment
from orders.models import Order
from tests.orders.push_bodies import ADDRESS

ORDER = {
    *("id", "type", "currency", "retailer_order_id", "processing_state", "id_in_source"),
    *("billing_address", "shipping_address", "shipping_method_code", "shipping_paid", "shipping_tax"),
    *("sales_division_code", "sales_order_number", "gift_message", "is_gift", "ship_until"),
    *(
        "original_created_at",
        "when_short",
        "notes",
        "created_at",
        "updated_at",
        "order_lines",
        "fulfillments",
    ),
}
LINE = {
    *(
        "id",
        "expected_at",
        "sku",
        "upc",
        "title",
        "supplier_id",
        "variant_id",
        "quantity",
        "billed_amount",
        "tax_billed_amount",
    ),
    *(
        "notes",
        "quantity_open",
        "quantity_reserved",
        "quantity_shipped",
        "quantity_canceled",
        "quantity_rejected",
    ),
    *("quantity_returned", "quantity_waiting", "short"),
}


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", stock=1000)


@pytest.fixture
def orders(lamp, push):
    return [push({"sku": "LAMP", "quantity": 1}) for _ in range(5)]


@pytest.fixture
def move(acme_api, shop_api):
    """Return a function that brings an order into a state."""

    def bring(order: Order, state: str) -> None:
        path = f"fulfillments/{Fulfillment.objects.get(order=order).pk}/setStatus"
        if state in ("processing", "completed"):
            acme_api.put(f"{path}/accepted")
        if state == "completed":
            acme_api.put(f"{path}/shipped", {"tracking_number": "T"})
        if state in ("canceling", "canceled"):
            shop_api.post(f"orders/{order.pk}/cancel")
        if state == "canceled":
            acme_api.put(path, {"status": "canceled"})
        if state == "exception":
            acme_api.put(f"{path}/wrong_address")
        assert Order.objects.get(pk=order.pk).processing_state == state

    return bring


def found(answer) -> list[int]:
    assert answer.status_code == 200, answer.content
    assert set(answer.json()) == {"next", "previous", "results"}
    return [each["id"] for each in answer.json()["results"]]


def path_of(url: str) -> str:
    return url.removeprefix("http://testserver")


# --- A single order ------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["gt", "gte"])
def test_the_earliest_possible_moment_lists_all_orders(an_order_at_acme, shop_api, step):
    [order] = shop_api.get("orders", {f"created_at__{step}": "0001-01-01T00:00:00Z"}).json()["results"]

    assert order["id"] == an_order_at_acme.pk


def test_an_order_has_these_fields(orders, move, shop_api, acme):
    move(orders[0], "completed")

    shown = shop_api.get(f"orders/{orders[0].pk}").json()

    assert set(shown) == ORDER
    assert set(shown["shipping_address"]) == set(ADDRESS) | {"address2", "state", "company_name"}
    [line] = shown["order_lines"]
    assert set(line) == LINE
    assert (line["quantity"], line["quantity_shipped"], line["quantity_reserved"], line["short"]) == (
        1,
        1,
        0,
        0,
    )
    [fulfillment] = shown["fulfillments"]
    assert len(fulfillment.pop("shipments")) == 1
    assert [each["order_line_id"] for each in fulfillment.pop("lines")] == [line["id"]]
    assert fulfillment == {
        "id": Fulfillment.objects.get(order=orders[0]).pk,
        "supplier_id": acme.pk,
        "state": "shipped",
        "tracking_numbers": ["T"],
        "currency": "USD",
        "returns": [],
    }
    assert (shown["type"], shown["processing_state"]) == ("dropship", "completed")


def test_an_order_in_the_list_equals_the_single_read(orders, shop_api):
    listed = shop_api.get("orders").json()["results"]

    assert listed == [shop_api.get(f"orders/{order.pk}").json() for order in orders]


def test_the_lines_are_in_the_order_in_which_they_were_pushed(acme, a_variant, push, shop_api):
    for sku in ("C", "A", "B"):
        a_variant(acme, sku, stock=9)

    order = push(*({"sku": sku, "quantity": 1} for sku in ("C", "A", "B")))

    shown = shop_api.get(f"orders/{order.pk}").json()
    assert [line["sku"] for line in shown["order_lines"]] == ["C", "A", "B"]


@pytest.mark.parametrize("pk", ["0", "x", "999999999999", "9" * 30, "-1", "1.5"])
def test_an_invalid_order_id_is_not_found(pk, shop_api):
    answer = shop_api.get(f"orders/{pk}")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_orders_of_another_retailer_are_neither_read_nor_listed_nor_counted(orders, boutique, client_for):
    api = client_for(boutique)

    assert api.get(f"orders/{orders[0].pk}").status_code == 404
    assert api.get("orders").json() == {"next": None, "previous": None, "results": []}
    assert api.get("order-filters").json() == {"completed": 0, "canceled": 0, "pending": 0}


# --- The list ------------------------------------------------------------------------------------


def test_orders_are_listed_by_their_last_change(orders, move, shop_api):
    move(orders[1], "processing")

    pks = [order.pk for order in orders]
    assert found(shop_api.get("orders")) == [pks[0], *pks[2:], pks[1]]
    assert found(shop_api.get("orders", {"sort": "-updated_at"})) == [pks[1], *reversed(pks[2:]), pks[0]]
    assert found(shop_api.get("orders", {"ordering": "id"})) == pks
    assert found(shop_api.get("orders", {"sort": "-id"})) == pks[::-1]


@pytest.mark.parametrize("form", ["object", "plain"])
def test_a_poller_sees_all_later_changes(form, orders, move, shop_api):
    seen = shop_api.get("orders").json()["results"][-1]["updated_at"]
    move(orders[3], "completed")
    move(orders[1], "processing")
    params = {"sort": "updated_at", "filter": json.dumps({"updated_at": {"gt": seen}})}
    if form == "plain":
        params = {"ordering": "updated_at", "updated_at__gt": seen}

    assert found(shop_api.get("orders", params)) == [orders[3].pk, orders[1].pk]

    params |= {"processing_state": "completed"}
    if form == "object":
        params["filter"] = json.dumps({"updated_at": {"gt": seen}, "processing_state": "completed"})
    assert found(shop_api.get("orders", params)) == [orders[3].pk]


@pytest.mark.parametrize(
    ("step", "wanted"), [("gt", [3, 4]), ("gte", [2, 3, 4]), ("lt", [0, 1]), ("lte", [0, 1, 2]), ("", [2])]
)
@pytest.mark.parametrize("column", ["updated_at"])
def test_each_filter_by_a_moment_finds_its_orders(column, step, wanted, orders, shop_api):
    moment = shop_api.get(f"orders/{orders[2].pk}").json()[column]
    plain = {f"{column}__{step}" if step else column: moment}
    as_object = {"filter": json.dumps({column: {step: moment} if step else moment})}

    for params in (plain, as_object):
        assert found(shop_api.get("orders", params)) == [orders[index].pk for index in wanted]


@pytest.mark.parametrize("form", ["{}", "{}+00:00", "{} 00:00"])
def test_a_moment_may_be_spelled_with_its_offset(form, orders, shop_api):
    moment = shop_api.get(f"orders/{orders[2].pk}").json()["updated_at"].removesuffix("Z")

    answer = shop_api.get(f"orders?updated_at__gt={form.format(moment).replace(' ', '%20')}")

    assert found(answer) == [orders[3].pk, orders[4].pk]


def test_a_client_that_cuts_microseconds_loses_nothing(orders, shop_api):
    """JavaScript's Date keeps milliseconds, so stamps have whole milliseconds."""
    moment = shop_api.get(f"orders/{orders[2].pk}").json()["updated_at"]

    assert moment.endswith("000Z")
    assert found(shop_api.get("orders", {"updated_at__gt": moment[:-4] + "Z"})) == [o.pk for o in orders[3:]]


@pytest.mark.parametrize(
    "params", [{"type": "replenish"}, {"filter": '{"type":"replenish"}'}, {"sales_order_number": "SO-9"}]
)
def test_other_filters_find_their_orders(params, orders, push, shop_api):
    other = push({"sku": "LAMP", "quantity": 1}, type="replenish", sales_order_number="SO-9")

    assert found(shop_api.get("orders", params)) == [other.pk]


def test_an_order_is_found_by_the_retailers_own_number(orders, shop_api):
    number = orders[3].retailer_order_id

    assert found(shop_api.get("orders", {"retailer_order_id": number})) == [orders[3].pk]
    assert found(shop_api.get("orders", {"filter": json.dumps({"retailer_order_id": number})})) == [
        orders[3].pk
    ]


def test_pages_go_forward_and_back(orders, shop_api):
    pks = [order.pk for order in orders]
    first = shop_api.get("orders", {"limit": 2})
    second = shop_api.get(path_of(first.json()["next"]))
    third = shop_api.get(path_of(second.json()["next"]))

    assert [found(first), found(second), found(third)] == [pks[:2], pks[2:4], pks[4:]]
    assert first.json()["previous"] is None
    assert third.json()["next"] is None
    assert found(shop_api.get(path_of(third.json()["previous"]))) == pks[2:4]
    back = shop_api.get(path_of(second.json()["previous"]))
    assert found(back) == pks[:2]
    assert back.json()["previous"] is None


def test_a_page_keeps_its_filter_and_order(orders, shop_api):
    first = shop_api.get("orders", {"limit": 2, "sort": "-updated_at", "processing_state": "received"})

    assert found(first) == [orders[4].pk, orders[3].pk]
    assert found(shop_api.get(path_of(first.json()["next"]))) == [orders[2].pk, orders[1].pk]


def test_an_order_changed_between_two_pages_is_seen_again(orders, move, shop_api):
    first = shop_api.get("orders", {"limit": 3})
    move(orders[0], "processing")

    rest = shop_api.get(path_of(first.json()["next"]))

    assert found(rest) == [orders[3].pk, orders[4].pk, orders[0].pk]


@pytest.mark.parametrize(
    ("params", "code", "field"),
    [
        ({"limit": "0"}, "validation_error", "limit"),
        ({"limit": "501"}, "validation_error", "limit"),
        ({"limit": "ten"}, "validation_error", "limit"),
        ({"sort": "name"}, "invalid_filter", "sort"),
        ({"ordering": "created"}, "invalid_filter", "ordering"),
        ({"updated_at_gt": "2026-01-01"}, "invalid_filter", "updated_at_gt"),
        ({"updated_at[gt]": "2026-01-01"}, "invalid_filter", "updated_at[gt]"),
        ({"updatedAt__gt": "2026-01-01"}, "invalid_filter", "updatedAt__gt"),
        ({"procesing_state": "completed"}, "invalid_filter", "procesing_state"),
        (
            {"filter": '{"updated_at__gt":"2026-01-01T00:00Z","updated_at":{"gt":"2025-01-01T00:00Z"}}'},
            "invalid_filter",
            "filter.updated_at__gt",
        ),
        ({"updated_at__gt": "yesterday"}, "invalid_filter", "updated_at__gt"),
        ({"updated_at__gt": "2026-13-01T00:00:00Z"}, "invalid_filter", "updated_at__gt"),
        ({"updated_at__gt": "1700000000"}, "invalid_filter", "updated_at__gt"),
        ({"processing_state": "done"}, "invalid_filter", "processing_state"),
        ({"type": "gift"}, "invalid_filter", "type"),
        ({"filter": "x"}, "invalid_filter", "filter"),
        ({"filter": "[]"}, "invalid_filter", "filter"),
        ({"filter": '{"a":' * 51 + "1" + "}" * 51}, "invalid_filter", "filter"),
        ({"filter": '{"retailer_order_id": "\\ud800"}'}, "invalid_filter", "filter.retailer_order_id"),
        ({"filter": '{"updated_at": {"after": "2026-01-01"}}'}, "invalid_filter", "filter.updated_at__after"),
        ({"filter": '{"updated_at": {"gt": null}}'}, "invalid_filter", "filter.updated_at__gt"),
        ({"filter": '{"updated_at": {"gt": ["2026-01-01"]}}'}, "invalid_filter", "filter.updated_at__gt"),
        ({"filter": '{"updated_at": {"gt": 5}}'}, "invalid_filter", "updated_at__gt"),
        ({"filter": '{"state": "completed"}'}, "invalid_filter", "filter.state"),
        ({"filter": '{"processing_state": ["completed"]}'}, "invalid_filter", "filter.processing_state"),
    ],
)
def test_an_unknown_filter_is_refused_and_lists_nothing(params, code, field, shop_api):
    answer = shop_api.get("orders", params)

    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert answer.json()["errors"][0]["field"] == field


def test_a_parameter_unlike_any_known_one_is_ignored(orders, shop_api):
    assert len(found(shop_api.get("orders", {"_": "1700000000000", "store": "main"}))) == 5


def forged(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "%00",
        forged(),
        forged("id", ">", "5"),  # the cursor of a list that is sorted by another column
        forged("updated_at", ">", "5"),
        forged("updated_at", ">", 5),
        forged("updated_at", "=", "2026-01-01T00:00:00Z"),
        forged("updated_at", ">", "then"),
        forged("updated_at", ">", None),
        forged(["updated_at"], ">", "2026-01-01T00:00:00Z"),
        "A" * 5000,
    ],
)
def test_a_cursor_that_was_never_given_out_is_refused(cursor, orders, shop_api):
    answer = shop_api.get("orders", {"cursor": cursor})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor")


def test_a_filter_is_at_most_as_long_as_documented(shop_api):
    assert shop_api.get("orders", {"retailer_order_id": "A" * 1000}).status_code == 200
    answer = shop_api.get("orders", {"retailer_order_id": "A" * 1001})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_filter")
    assert answer.json()["errors"][0]["field"] == "retailer_order_id"


@pytest.mark.parametrize("count", [1, 12])
def test_a_list_of_any_size_costs_the_same(count, lamp, push, shop_api, django_assert_num_queries):
    for _ in range(count):
        push(*({"sku": "LAMP", "quantity": 1} for _ in range(count)))

    # queries: the key; the orders; their lines; their fulfillments; the fulfillments' lines
    with django_assert_num_queries(5):
        assert len(found(shop_api.get("orders"))) == count


# --- Stamps and counts ---------------------------------------------------------------------------


def test_every_change_has_a_later_stamp_of_its_own(orders, move, shop_api):
    stamps = [order.updated_at for order in orders]
    for order, state in zip(
        orders, ("processing", "completed", "canceling", "canceled", "exception"), strict=True
    ):
        move(order, state)
        stamps.append(Order.objects.get(pk=order.pk).updated_at)

    assert stamps == sorted(set(stamps))


def test_the_counts_agree_with_the_orders(orders, move, shop_api):
    for order, state in zip(
        orders, ("processing", "completed", "canceling", "canceled", "exception"), strict=True
    ):
        move(order, state)

    counts = shop_api.get("order-filters")

    states = Counter(Order.objects.values_list("processing_state", flat=True))
    assert counts.json() == {"completed": states["completed"], "canceled": states["canceled"], "pending": 3}
    assert list(counts.json()) == ["completed", "canceled", "pending"]


def test_a_retailer_without_orders_has_counts_of_zero(shop_api):
    assert shop_api.get("order-filters").json() == {"completed": 0, "canceled": 0, "pending": 0}


def test_each_retailer_has_its_own_counts(orders, rival, boutique, a_variant, client_for, shop_api):
    a_variant(rival, "RUG", stock=5)
    api = client_for(boutique)
    body = {
        "retailer_order_id": "1",
        "shipping_address": ADDRESS,
        "order_lines": [{"sku": "RUG", "quantity": 1}],
    }
    assert api.post("orders", body).status_code == 201

    assert api.get("order-filters").json()["pending"] == 1
    assert shop_api.get("order-filters").json()["pending"] == 5


def test_counting_any_number_costs_the_same(orders, shop_api, django_assert_num_queries):
    with django_assert_num_queries(2):  # queries: the key; the clock
        shop_api.get("order-filters")

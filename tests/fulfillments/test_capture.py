"""Capture: the fulfillments for a supplier, with filters and pages (interface 4.1, contract 3)."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from fulfillments.models import Fulfillment
from orders.models import Order
from orders.services import hold, release
from tests.orders.fixtures import OPERATOR, status
from tests.orders.push_bodies import ADDRESS

NEW_WORK = {"filter": '{"retailer_state":"ordered","fulfillment_state":"new"}'}


def ids(answer) -> list[int]:
    assert answer.status_code == 200, answer.content
    return [each["id"] for each in answer.json()]


@pytest.fixture
def works(acme, a_variant, push, acme_api, shop_api):
    """Create a fulfillment of Acme in each of four states, and return their ids by state."""
    a_variant(acme, "LAMP", stock=100)
    made = {}
    for name in ("new", "accepted", "canceling", "cancelation not allowed"):
        made[name] = Fulfillment.objects.get(order=push({"sku": "LAMP", "quantity": 1}))
    acme_api.put(status(made["accepted"], "accepted"))
    for name in ("canceling", "cancelation not allowed"):
        shop_api.post(f"orders/{made[name].order_id}/cancel")
    acme_api.put(status(made["cancelation not allowed"]), {"status": "cancelation not allowed"})
    return {name: work.pk for name, work in made.items()}


def test_an_item_has_the_documented_fields_and_the_shipping_fields(acme, a_variant, push, acme_api):
    variant = a_variant(acme, "LAMP", stock=5, upc="036000291452", wholesale_price="10.50")
    order = push(
        {"sku": "LAMP", "quantity": 2, "notes": [{"name": "engrave", "value": "Ada"}]},
        notes=[{"name": "door", "value": "blue"}],
        sales_order_number="SO-7",
        shipping_method_code="UPSG",
        ship_until="2026-12-24",
        is_gift=True,
        gift_message="For you",
    )
    line = Fulfillment.objects.get().lines.get()

    [item] = acme_api.get("fulfillments", NEW_WORK).json()

    address = {"address2": "", "state": "", "company_name": "", **ADDRESS}
    moments = {name: item.pop(name) for name in ("created_at", "updated_at", "captured_at")}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", each) for each in moments.values())
    assert item.pop("due_at") == "2026-12-25T00:00:00.000000Z"
    assert item.pop("overdue") is False
    assert item == {
        "id": Fulfillment.objects.get().pk,
        "order_id": order.pk,
        "retailer_id": order.retailer_id,
        "retailer_name": "Shop",
        "retailer_erp_id": "ERP-Acme",
        "retailer_state": "ordered",
        "fulfillment_state": "new",
        "notes": [{"name": "door", "value": "blue"}, {"name": "engrave", "value": "Ada"}],
        "retailer_shipper_account": "UPS-77",
        "retailer_order_id": order.retailer_order_id,
        "sales_order_number": "SO-7",
        "warehouse_id": acme.warehouses.get(is_default=True).pk,
        "shipping_method_code": "UPSG",
        "shipping_address": address,
        "billing_address": address,
        "ship_until": "2026-12-24",
        "is_gift": True,
        "gift_message": "For you",
        "tracking_number": "",
        "invoice_id": "",
        "currency": "USD",
        "lines": [
            {
                "id": line.pk,
                "variant_id": variant.pk,
                "sku": "LAMP",
                "upc": "036000291452",
                "title": "Acme LAMP",
                "quantity": 2,
                "quantity_open": 2,
                "quantity_reserved": 2,
                "quantity_shipped": 0,
                "quantity_rejected": 0,
                "quantity_canceled": 0,
                "quantity_cancel_requested": 0,
                "quantity_returned": 0,
                "short": 0,
                "wholesale_price": 10.5,
            }
        ],
        "shipments": [],
        "kept_shipments": [],
        "rejections": [],
        "returns": [],
    }
    assert acme_api.get(f"fulfillments/{item['id']}").json() | moments == {
        **item,
        **moments,
        "due_at": "2026-12-25T00:00:00.000000Z",
        "overdue": False,
    }


WANTED = {
    "new": ["new", "cancelation not allowed"],
    "accepted": ["accepted"],
    "canceling": ["canceling"],
    "cancelling": ["canceling"],
    "cancelation not allowed": ["cancelation not allowed"],
    "shipped": [],
}


@pytest.mark.parametrize("asked", WANTED)
@pytest.mark.parametrize("form", ["object", "plain"])
def test_a_filter_by_state_finds_its_fulfillments(asked, form, works, acme_api):
    params = {"fulfillment_state": asked}
    answer = acme_api.get("fulfillments", {"filter": json.dumps(params)} if form == "object" else params)

    assert ids(answer) == [works[name] for name in WANTED[asked]]
    assert [each["fulfillment_state"] for each in answer.json()] == WANTED[asked]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("ordered", ["new", "accepted", "cancelation not allowed"]),
        ("canceling", ["canceling"]),
        ("cancelling", ["canceling"]),
        ("canceled", []),
        ("pending", []),
    ],
)
def test_a_filter_by_the_retailers_state_finds_its_fulfillments(asked, wanted, works, acme_api):
    answer = acme_api.get("fulfillments", {"retailer_state": asked})

    assert ids(answer) == [works[name] for name in wanted]


def test_without_a_filter_all_states_are_listed_oldest_first(works, acme_api):
    assert ids(acme_api.get("fulfillments")) == sorted(works.values())


def test_new_work_is_captured_again_until_it_is_acted_upon(works, acme_api):
    wanted = [works["new"], works["cancelation not allowed"]]
    assert ids(acme_api.get("fulfillments", NEW_WORK)) == wanted
    assert ids(acme_api.get("fulfillments", NEW_WORK)) == wanted

    acme_api.put(f"fulfillments/{works['new']}/setStatus/accepted")

    assert ids(acme_api.get("fulfillments", NEW_WORK)) == wanted[1:]


def test_a_refused_cancellation_is_to_be_captured_again(works, acme_api):
    """The retailer's state is `ordered` again, and the fulfillment keeps its own state."""
    item = acme_api.get("fulfillments", NEW_WORK).json()[1]

    assert (item["retailer_state"], item["fulfillment_state"]) == ("ordered", "cancelation not allowed")


def test_the_retailers_state_follows_a_cancellation(work, acme_api, shop_api):
    def shown_state():
        return acme_api.get(f"fulfillments/{work.pk}").json()["retailer_state"]

    assert shown_state() == "ordered"
    shop_api.post(f"orders/{work.order_id}/cancel")
    assert shown_state() == "canceling"
    acme_api.put(status(work), {"status": "canceled"})
    assert shown_state() == "canceled"


def test_held_work_is_not_captured_until_it_is_released(works, acme_api):
    order = Fulfillment.objects.get(pk=works["new"]).order
    with order.change(by=OPERATOR) as change:
        hold(change)

    assert works["new"] not in ids(acme_api.get("fulfillments"))
    assert ids(acme_api.get("fulfillments", NEW_WORK)) == [works["cancelation not allowed"]]
    assert acme_api.get(f"fulfillments/{works['new']}").json()["retailer_state"] == "pending"

    with order.change(by=OPERATOR) as change:
        release(change)
    assert works["new"] in ids(acme_api.get("fulfillments", NEW_WORK))


@pytest.mark.parametrize("state", ["ordered", "pending"])
def test_listed_fulfillments_have_the_filtered_retailers_state(state, works, acme_api):
    with Order.objects.get(fulfillments=works["accepted"]).change(by=OPERATOR) as change:
        hold(change)

    listed = acme_api.get("fulfillments", {"retailer_state": state}).json()

    assert {each["retailer_state"] for each in listed} <= {state}
    # a held order is not listed as pending either
    assert works["accepted"] not in [each["id"] for each in listed]


def test_a_supplier_gets_only_its_own_fulfillments(works, rival_api):
    assert rival_api.get("fulfillments").json() == []
    missing = rival_api.get(f"fulfillments/{works['new']}")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


def test_the_first_capture_is_kept_and_moves_no_order(works, acme_api):
    before = dict(Order.objects.values_list("pk", "updated_at"))
    [first, *_] = acme_api.get("fulfillments").json()
    [again, *_] = acme_api.get("fulfillments").json()

    assert first["captured_at"] == again["captured_at"]
    assert first["captured_at"] <= datetime.now(UTC).isoformat()
    assert dict(Order.objects.values_list("pk", "updated_at")) == before


def test_reading_one_fulfillment_captures_nothing(work, acme_api):
    assert acme_api.get(f"fulfillments/{work.pk}").json()["captured_at"] is None


def test_pages_are_linked_and_hold_each_fulfillment_once(works, acme_api):
    seen: list[int] = []
    path: str | None = "fulfillments?limit=3&_=1"
    while path:
        answer = acme_api.get(path)
        seen += ids(answer)
        links = re.findall(r'<([^>]+)>; rel="(next|prev)"', answer.headers.get("Link", ""))
        path = next((url.removeprefix("http://testserver") for url, rel in links if rel == "next"), None)
        if path:
            assert "limit=3" in path

    assert seen == sorted(works.values())


@pytest.mark.parametrize("limit", ["0", "-1", "501", "x", "1.5", "99999999999"])
def test_a_limit_outside_its_bounds_is_refused(limit, acme_api):
    answer = acme_api.get("fulfillments", {"limit": limit})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "limit")


@pytest.mark.parametrize("limit", [1, 500])
def test_a_limit_at_its_bounds_is_taken(limit, works, acme_api):
    assert len(ids(acme_api.get("fulfillments", {"limit": limit}))) == min(limit, 4)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"filter": "new"}, "filter"),
        ({"filter": "[]"}, "filter"),
        ({"filter": '"new"'}, "filter"),
        ({"filter": '{"fulfillment_state": "new"'}, "filter"),
        ({"filter": '{"state": "new"}'}, "filter.state"),
        ({"filter": '{"fulfillment_state": "lost"}'}, "fulfillment_state"),
        ({"filter": '{"fulfillment_state": 5}'}, "fulfillment_state"),
        ({"filter": '{"fulfillment_state": null}'}, "filter.fulfillment_state"),
        ({"filter": '{"fulfillment_state": ["new"]}'}, "filter.fulfillment_state"),
        ({"filter": '{"fulfillment_state": {"in": "new"}}'}, "filter.fulfillment_state__in"),
        ({"filter": '{"fulfillment_state": ""}'}, "filter.fulfillment_state"),
        ({"filter": '{"fulfillment_state": {}}'}, "filter.fulfillment_state"),
        ({"filter": '{"retailer_state": true}'}, "filter.retailer_state"),
        ({"filter": '{"retailer_state": "new"}'}, "retailer_state"),
        ({"filter": '{"fulfillment_state":"new","fulfillment_state":"new"}'}, "filter"),
        ({"fulfillment_state": "NEW"}, "fulfillment_state"),
        ({"retailer_state": "x"}, "retailer_state"),
        ({"fulfilment_state": "new"}, "fulfilment_state"),
        ({"fulfillmentState": "new"}, "fulfillmentState"),
        ({"filters": "{}"}, "filters"),
        ({"order_id": "7"}, "order_id"),
        ({"id": "7"}, "id"),
        ({"page": "2"}, "page"),
        ({"since": "2026-01-31"}, "since"),
    ],
)
def test_a_filter_that_is_not_understood_is_refused_and_lists_nothing(params, field, acme_api):
    answer = acme_api.get("fulfillments", params)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_filter")
    assert answer.json()["errors"][0]["field"] == field


def test_an_unknown_state_is_answered_with_the_known_ones(acme_api):
    message = acme_api.get("fulfillments", {"fulfillment_state": "lost"}).json()["message"]

    assert "lost" in message
    assert "cancelation not allowed" in message


def test_a_parameter_unlike_any_known_one_is_ignored(works, acme_api):
    assert ids(acme_api.get("fulfillments", {"_": "1700000000000", **NEW_WORK})) == [
        works["new"],
        works["cancelation not allowed"],
    ]


CURSORS = ["x", "%%%", "WyJpZCIsICI+IiwgIngiXQ", "W10", "e30", "WyJpZCIsICI-IiwgIjIwMjYtMDEtMDEiXQ"]


@pytest.mark.parametrize("cursor", CURSORS)
def test_a_cursor_that_was_never_given_out_is_refused(cursor, acme_api):
    answer = acme_api.get("fulfillments", {"cursor": cursor})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor")


@pytest.mark.parametrize("lines", [1, 6])
def test_capturing_any_number_costs_the_same(
    lines, acme, a_variant, push, acme_api, django_assert_num_queries
):
    for number in range(lines):
        a_variant(acme, f"LAMP-{number}", stock=100)
    for _ in range(lines):
        push(*({"sku": f"LAMP-{number}", "quantity": 1} for number in range(lines)))

    # Store the first use of the key now, because it costs a query.
    acme_api.get("fulfillments?fulfillment_state=canceled")
    # queries: the key; fulfillments; lines; parcels, refusals, returns; the first captures, and their rows
    with django_assert_num_queries(8):
        assert len(acme_api.get("fulfillments", NEW_WORK).json()) == lines
    with django_assert_num_queries(6):  # a second capture stores nothing
        acme_api.get("fulfillments", NEW_WORK)

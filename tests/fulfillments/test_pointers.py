"""Errors name the wrong element or parameter of a request; requests that change nothing have no errors."""

from __future__ import annotations

import pytest

from fulfillments.models import Capture
from tests.orders.fixtures import line_units, state_of, status


def fields(answer) -> list[str]:
    assert answer.status_code == 400, answer.content
    return [error["field"] for error in answer.json()["errors"]]


def test_a_parcel_with_too_many_units_points_at_the_quantity(acme_api, work):
    acme_api.put(status(work, "accepted"))
    lines = [line_units(work, "MAT", 1), line_units(work, "LAMP", 9)]

    answer = acme_api.put(status(work, "shipped"), {"tracking_number": "1Z1", "lines": lines})

    assert fields(answer) == ["lines[1].quantity"]


def test_an_error_names_the_second_part_of_a_line_if_both_parts_are_too_many(acme_api, work):
    acme_api.put(status(work, "accepted"))
    lines = [line_units(work, "LAMP", 2), line_units(work, "LAMP", 2)]

    answer = acme_api.put(status(work, "shipped"), {"tracking_number": "1Z1", "lines": lines})

    assert fields(answer) == ["lines[1].quantity"]


def test_one_of_several_parcels_points_at_its_item(acme_api, work):
    acme_api.put(status(work, "accepted"))
    parcels = [
        {"trackingNumber": "1Z1", "items": [{"sku": "MAT", "quantity": 1}]},
        {"trackingNumber": "1Z2", "items": [{"sku": "MAT", "quantity": 1}, {"sku": "LAMP", "quantity": 4}]},
    ]

    answer = acme_api.post("fulfillments/shipments", {"id": work.pk, "shipments": parcels})

    assert fields(answer) == ["shipments[1].items[1].quantity"]


def test_a_rejection_of_too_many_units_points_at_its_item(acme_api, work):
    items = [{"sku": "MAT", "quantity": 1}, {"sku": "LAMP", "quantity": 4}]
    for element in ({"id": work.pk, "rejectId": "R1", "items": items}, {"id": work.pk, "items": items}):
        answer = acme_api.post("fulfillments/rejections", [element])
        assert fields(answer) == ["items[1].quantity"]


def test_a_return_of_too_many_units_points_at_its_line(acme_api, work):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "1Z1"})
    lines = [{"sku": "MAT", "quantity": 1}, {"sku": "LAMP", "quantity": 4}]

    answer = acme_api.post(f"fulfillments/{work.pk}/returns", {"reason": "broken", "return_lines": lines})

    assert fields(answer) == ["return_lines[1].quantity"]


@pytest.mark.parametrize("body", [{"status": None}, {"status": "done"}, {}])
def test_a_wrong_status_is_answered_with_the_possible_statuses(acme_api, work, body):
    answer = acme_api.put(status(work), body)

    assert fields(answer) == ["status"]
    assert '"canceled" or "cancelation not allowed"' in answer.json()["errors"][0]["message"]


def test_a_head_request_for_the_fulfillments_captures_nothing(acme_api, work):
    answer = acme_api.request("HEAD", "fulfillments?fulfillment_state=new")

    assert (answer.status_code, answer.content) == (200, b"")
    assert not Capture.objects.exists()
    acme_api.get("fulfillments")
    assert Capture.objects.exists()


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("state=new", "fulfillment_state"),
        ("status=new", "fulfillment_state"),
        ("q=new", "fulfillment_state"),
        ("retailerStatus=ordered", "retailer_state"),
        ("q=ordered", "retailer_state"),
        ("filters={}", "filter"),
    ],
)
def test_an_unknown_parameter_that_means_a_state_is_refused(acme_api, work, query, right):
    answer = acme_api.get(f"fulfillments?{query}")

    assert fields(answer) == [query.partition("=")[0]]
    assert f"Did you mean {right}?" in answer.json()["message"]
    assert not Capture.objects.exists()


def test_other_unknown_parameters_are_ignored(acme_api, work):
    assert acme_api.get("fulfillments?_=1700000000000&utm_source=x&fulfillment_state=new").status_code == 200


@pytest.mark.parametrize("name", ["accepted", "out_of_stock"])
def test_a_body_of_null_is_read_as_no_body(acme_api, work, name):
    answer = acme_api.put(status(work, name), b"null")

    assert (answer.status_code, answer.json()["code"]) == (200, name)


def test_null_where_a_body_is_needed_names_the_missing_fields(acme_api, work):
    assert fields(acme_api.put(status(work), b"null")) == ["status"]
    assert state_of(work) == "new"


def test_null_cancels_the_whole_order(shop_api, work):
    assert shop_api.post(f"orders/{work.order_id}/cancel", b"null").json()["code"] == "cancel_requested"

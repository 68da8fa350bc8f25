"""Where naming nothing means everything, nothing that was misread may be taken for naming nothing."""

from __future__ import annotations

import pytest

from fulfillments.models import Fulfillment
from orders.models import Order
from tests.orders.push_bodies import an_order


@pytest.fixture
def accepted(acme, shop, client_for, a_variant):
    """An accepted fulfillment of three pieces, with its supplier's and its retailer's client."""
    a_variant(acme, "A-1", stock=5)
    retailer, supplier = client_for(shop), client_for(acme)
    retailer.post("orders", an_order({"sku": "A-1", "quantity": 3}))
    fulfillment = Fulfillment.objects.get()
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    return fulfillment, supplier, retailer


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"lines": []}, "lines"),
        ({"line": [{"sku": "A-1", "quantity": 1}]}, "line"),
        ({"order_lines": [{"sku": "A-1", "quantity": 1}]}, "order_lines"),
        ({"Lines": [{"sku": "A-1", "quantity": 1}]}, "Lines"),
        ({"lines": [None]}, "lines[0]"),
    ],
)
def test_a_cancel_that_is_misread_cancels_nothing(accepted, body, field):
    fulfillment, _, retailer = accepted

    answer = retailer.post(f"orders/{fulfillment.order_id}/cancel", body)

    assert answer.status_code == 400, answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert Order.objects.get().processing_state == "processing"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"items": [{"sku": "A-1", "quantity": 1}]}, "items"),
        ({"line": [{"id": 1, "quantity": 1}]}, "line"),
        ({"lines": []}, "lines"),
        ({"lines": [None]}, "lines[0]"),
    ],
)
def test_a_parcel_that_is_misread_ships_nothing(accepted, body, field):
    fulfillment, supplier, _ = accepted

    answer = supplier.put(
        f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "T", **body}
    )

    assert answer.status_code == 400, answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert not fulfillment.shipments.exists()


def test_a_misspelt_tracking_number_is_reported(accepted):
    fulfillment, supplier, _ = accepted

    answer = supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted", {"trackingNumber": "T"})

    assert answer.json()["errors"][0]["field"] == "trackingNumber"
    assert "tracking_number" in answer.json()["message"]


def test_a_parcel_given_in_two_elements_is_one_parcel(accepted):
    fulfillment, supplier, _ = accepted
    parcel = {"trackingNumber": "T", "items": [{"sku": "A-1", "quantity": 1}]}

    supplier.post("fulfillments/shipments", {"id": fulfillment.pk, "shipments": [parcel, parcel]})

    assert fulfillment.lines.get().shipped == 2
    assert fulfillment.shipments.count() == 1


def test_a_date_that_means_never_is_no_deadline(acme, shop, client_for, a_variant):
    a_variant(acme, "A-1", stock=5)

    answer = client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 1}, ship_until="9999-12-31"))

    assert answer.status_code == 201
    assert client_for(acme).get("fulfillments").json()[0]["due_at"] is None


def test_two_filters_that_contradict_each_other_are_refused(shop, client_for):
    client = client_for(shop)
    filtered = {"filter": '{"processing_state": "completed"}', "processing_state": "canceled"}

    assert client.get("orders", filtered).json()["code"] == "invalid_filter"
    assert client.get("orders", {"sort": "id", "ordering": "-id"}).json()["code"] == "invalid_filter"


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"filter[processing_state]": "processing"}, 1),
        ({"filter[processing_state]": "completed"}, 0),
        ({"filter[updated_at][gt]": "2001-01-01"}, 1),
        ({"filter[updated_at][gt]": "2999-01-01"}, 0),
    ],
)
def test_a_filter_written_with_brackets_is_understood(accepted, params, found):
    _, _, retailer = accepted

    assert len(retailer.get("orders", params).json()["results"]) == found


@pytest.mark.parametrize(
    "query",
    [
        "filter.processing_state=completed",
        "filter[state]=completed",
        "filter[updated_at][after]=2001-01-01",
        "filter[]=x",
        "processing_state=completed&processing_state=canceled",
    ],
)
def test_a_filter_that_is_not_understood_does_not_list_everything(accepted, query):
    _, _, retailer = accepted

    assert retailer.get(f"orders?{query}").json()["code"] == "invalid_filter"


def test_a_parcel_names_the_line_that_is_not_its_own(accepted):
    fulfillment, supplier, _ = accepted
    lines = [{"id": fulfillment.lines.get().pk, "quantity": 1}, {"id": 999_999, "quantity": 1}]

    answer = supplier.put(
        f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "T", "lines": lines}
    )

    assert answer.json()["errors"][0]["field"] == "lines[1].id"

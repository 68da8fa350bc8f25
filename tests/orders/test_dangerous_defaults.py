"""A misspelled field never means the whole order, although a missing field does."""

from __future__ import annotations

import pytest

from catalog.models import Variant
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.orders.push_bodies import an_order


@pytest.fixture
def accepted(acme, shop, client_for, a_variant):
    """Return an accepted fulfillment of three units, with the clients of both parties."""
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
        ({"lines": [{"sku": "A-1", "qty": 1}]}, "lines[0].qty"),
        ({"lines": [{"sku": "A-1", "amount": "1"}]}, "lines[0].amount"),
        ({"lines": [{"sku": "A-1", "how_many": 1}]}, "lines[0].how_many"),
        ({"lines": [{"sku": "A-1", "quantity": None, "qty": 1}]}, "lines[0].qty"),
        ({"sku": "A-1"}, "sku"),
        ({"quantity": 1}, "quantity"),
        ({"lines": None, "parts": [{"sku": "A-1", "quantity": 1}]}, "parts"),
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
        ({"quantity": 1}, "quantity"),
        ({"SKU": "A-1"}, "SKU"),
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


@pytest.mark.parametrize("status", ["out_of_stock", "missing_sku", "wrong_address"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"lines": [{"id": 1, "quantity": 1}]}, "lines"),
        ({"items": []}, "items"),
        ({"sku": "A-1", "quantity": 1}, "sku"),
        ([{"sku": "A-1", "quantity": 1}], None),
    ],
)
def test_a_refusal_of_some_units_is_not_a_refusal_of_all(accepted, status, body, field):
    fulfillment, supplier, _ = accepted

    answer = supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/{status}", body)

    assert answer.status_code == 400, answer.content
    assert "POST …/fulfillments/rejections" in answer.json()["message"]
    assert [each["field"] for each in answer.json().get("errors", [])] == ([field] if field else [])
    assert fulfillment.lines.get().rejected == 0


@pytest.mark.parametrize(
    ("body", "field"), [({"lines": [{"id": 1, "quantity": 1}]}, "lines"), ({"quantity": 1}, "quantity")]
)
def test_an_acceptance_of_some_units_is_not_an_acceptance_of_all(
    acme, shop, client_for, a_variant, body, field
):
    a_variant(acme, "A-1", stock=5)
    client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 3}))
    fulfillment = Fulfillment.objects.get()

    answer = client_for(acme).put(
        f"fulfillments/{fulfillment.pk}/setStatus/accepted", {"tracking_number": "T", **body}
    )

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert "POST …/fulfillments/rejections" in answer.json()["message"]
    fulfillment.refresh_from_db()
    assert (fulfillment.state, fulfillment.tracking_number) == ("new", "")


@pytest.mark.parametrize("path", ["setStatus", "setStatus/canceled"])
def test_an_answer_for_some_units_is_not_an_answer_for_all(accepted, path):
    fulfillment, supplier, retailer = accepted
    retailer.post(f"orders/{fulfillment.order_id}/cancel")
    body = {"status": "canceled", "lines": [{"id": fulfillment.lines.get().pk, "quantity": 1}]}

    answer = supplier.put(f"fulfillments/{fulfillment.pk}/{path}", body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "lines")
    assert Order.objects.get().processing_state == "canceling"


@pytest.mark.parametrize(
    "noise", [{"status": "out_of_stock"}, {"tracking_number": "", "notes": None}, {"quantity": None}, []]
)
def test_a_body_without_units_is_ignored_where_no_body_is_needed(accepted, noise):
    fulfillment, supplier, _ = accepted

    assert supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/out_of_stock", noise).status_code == 200


def test_a_misspelt_tracking_number_is_reported(accepted):
    fulfillment, supplier, _ = accepted

    answer = supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted", {"trackingNumber": "T"})

    assert answer.json()["errors"][0]["field"] == "trackingNumber"
    assert "tracking_number" in answer.json()["message"]


def test_two_elements_with_one_tracking_number_are_one_parcel(accepted):
    fulfillment, supplier, _ = accepted
    parcel = {"trackingNumber": "T", "items": [{"sku": "A-1", "quantity": 1}]}

    supplier.post("fulfillments/shipments", {"id": fulfillment.pk, "shipments": [parcel, parcel]})

    assert fulfillment.lines.get().shipped == 2
    assert fulfillment.shipments.count() == 1


def test_a_date_that_other_systems_use_for_never_is_no_deadline(acme, shop, client_for, a_variant):
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


def test_a_cancel_that_names_two_lines_in_one_element_cancels_neither(acme, shop, client_for, a_variant):
    a_variant(acme, "A-1", stock=5)
    a_variant(acme, "A-2", stock=5)
    client = client_for(shop)
    client.post("orders", an_order({"sku": "A-1", "quantity": 1}, {"sku": "A-2", "quantity": 1}))
    order = Order.objects.get()
    first, second = order.lines.order_by("position")
    cancel = f"orders/{order.pk}/cancel"

    answer = client.post(cancel, {"lines": [{"id": first.pk, "sku": "A-2"}]})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "lines[0].sku")
    assert f"line {second.pk}" in answer.json()["message"]
    assert client.post(cancel, {"lines": [{"id": first.pk, "sku": "our-own"}]}).status_code == 200


def test_empty_names_do_not_contradict_the_name_that_finds_a_line(acme, shop, client_for, a_variant):
    tent = a_variant(acme, "A-1", stock=5)
    a_variant(acme, "A-2", stock=5, upc="036000291452")
    client = client_for(shop)
    lines = ({"variant_id": tent.pk, "quantity": 1}, {"upc": "036000291452", "quantity": 1})
    client.post("orders", an_order(*lines))
    order = Order.objects.get()

    for line in order.lines.order_by("position"):
        element = {"id": line.pk, "sku": "", "variant_id": None}
        answer = client.post(f"orders/{order.pk}/cancel", {"lines": [element]})
        assert answer.status_code == 200, answer.content


def test_a_push_warns_if_variant_id_and_sku_name_two_variants(acme, shop, client_for, a_variant):
    tent = a_variant(acme, "A-1", stock=5)
    a_variant(acme, "A-2", stock=5)
    lines = (
        {"variant_id": tent.pk, "sku": "A-2", "quantity": 1},
        {"variant_id": tent.pk, "sku": "A-1", "quantity": 1},
        {"sku": "A-2", "quantity": 1},
    )

    answer = client_for(shop).post("orders", an_order(*lines))

    assert answer.status_code == 201
    assert answer.json()["warnings"] == [
        f"order_lines[0].sku: variant {tent.pk} has sku 'A-1', not 'A-2'; the variant_id was used."
    ]


def test_a_repeated_push_hides_the_new_names_of_a_former_partner(acme, shop, client_for, a_variant):
    tent = a_variant(acme, "A-1", stock=5)
    body = an_order({"variant_id": tent.pk, "sku": "A-2", "quantity": 1})
    assert "'A-1'" in client_for(shop).post("orders", body).json()["warnings"][0]
    shop.partnerships.update(is_active=False)
    Variant.objects.update(sku="SECRET-1")

    repeated = client_for(shop).post("orders", body)

    assert (repeated.json()["code"], repeated.json()["warnings"]) == ("order_exists", [])


@pytest.mark.parametrize("name", ["resaon", "reasonCode", "status"])
def test_a_refusal_whose_reason_is_misread_refuses_nothing(accepted, name):
    fulfillment, supplier, _ = accepted
    body = [{"id": fulfillment.pk, name: "wrong_address", "items": [{"sku": "A-1", "quantity": 1}]}]

    answer = supplier.post("fulfillments/rejections", body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, f"[0].{name}")
    assert "Did you mean reason?" in answer.json()["message"]
    assert fulfillment.lines.get().rejected == 0


def test_a_field_of_the_elements_is_refused_beside_them(accepted):
    fulfillment, supplier, _ = accepted
    items = [{"sku": "A-1", "quantity": 1}]
    parcels = {"id": fulfillment.pk, "carrier": "UPS", "shipments": [{"trackingNumber": "T", "items": items}]}
    returned = {"reason": "broken", "restock": True, "return_lines": items}

    parcels_answer = supplier.post("fulfillments/shipments", parcels)
    return_answer = supplier.post(f"fulfillments/{fulfillment.pk}/returns", returned)

    assert "Did you mean shipments[].carrier?" in parcels_answer.json()["message"]
    assert "Did you mean return_lines[].restock?" in return_answer.json()["message"]
    assert not fulfillment.shipments.exists()


def test_an_unknown_price_field_is_refused(acme, client_for, a_variant):
    variant = a_variant(acme, "A-1")

    answer = client_for(acme).request("PATCH", f"variants/{variant.pk}", {"price": 5})

    assert answer.status_code == 400
    assert "Did you mean retail_price?" in answer.json()["message"]

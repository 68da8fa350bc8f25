"""A retailer corrects the address or the deadline of its order by PATCH (contract 17)."""

from __future__ import annotations

import pytest

from events.models import Event
from fulfillments.models import Fulfillment
from orders.models import Order
from tests.orders.fixtures import OPERATOR, line_units, state_of, status
from tests.orders.push_bodies import ADDRESS, an_order

NEW_STREET = ADDRESS | {"address1": "1 New Street"}


@pytest.fixture
def change(shop_api):
    """Return a function that changes an order with this body, as Shop. It returns status and code."""

    def patch(order, body, **headers):
        answer = shop_api.request("PATCH", f"orders/{order.pk}", body, **headers)
        return answer.status_code, answer.json()["code"]

    return patch


def test_an_order_that_is_not_captured_can_be_changed(work, an_order_at_acme, acme_api, shop_api, change):
    body = {"shipping_address": NEW_STREET, "ship_until": "2099-01-31"}

    assert change(an_order_at_acme, body) == (200, "order_changed")
    assert change(an_order_at_acme, body) == (200, "unchanged")

    read = shop_api.get(f"orders/{an_order_at_acme.pk}").json()
    assert (read["shipping_address"]["address1"], read["ship_until"]) == ("1 New Street", "2099-01-31")
    [captured] = acme_api.get("fulfillments").json()
    assert (captured["shipping_address"]["address1"], captured["ship_until"]) == (
        "1 New Street",
        "2099-01-31",
    )
    assert captured["due_at"] == "2099-02-01T00:00:00.000000Z"
    types = [event["type"] for event in acme_api.get("events").json()["results"]]
    assert types[1:] == ["fulfillment.ship_until_changed", "fulfillment.address_corrected"]


def test_a_part_of_an_address_that_is_left_out_becomes_empty(work, an_order_at_acme, shop_api, change):
    """A former second address line must not remain."""
    change(an_order_at_acme, {"shipping_address": NEW_STREET | {"address2": "Flat 4"}})
    change(an_order_at_acme, {"shipping_address": NEW_STREET})

    assert shop_api.get(f"orders/{an_order_at_acme.pk}").json()["shipping_address"]["address2"] == ""


def test_ignored_fields_of_a_change_are_named_in_warnings(work, an_order_at_acme, shop_api):
    address = NEW_STREET | {"address_line_3": "Flat 4"}

    answer = shop_api.request(
        "PATCH", f"orders/{an_order_at_acme.pk}", {"shipping_address": address, "note": "by phone"}
    )

    assert answer.json()["code"] == "order_changed"
    assert answer.json()["warnings"] == [
        "note: there is no such field; it was ignored.",
        "shipping_address.address_line_3: there is no such field; it was ignored.",
    ]


def test_a_captured_order_cannot_be_changed(work, an_order_at_acme, acme_api, change):
    acme_api.get("fulfillments")
    before = Event.objects.count()

    assert change(an_order_at_acme, {"shipping_address": NEW_STREET}) == (409, "invalid_transition")
    assert change(an_order_at_acme, {"ship_until": "2099-01-31"}) == (409, "invalid_transition")
    assert change(an_order_at_acme, {"shipping_address": ADDRESS}) == (200, "unchanged")
    assert Event.objects.count() == before


def test_an_order_in_exception_can_be_changed_though_it_is_captured(work, an_order_at_acme, acme_api, change):
    acme_api.get("fulfillments")
    acme_api.put(status(work, "wrong_address"))

    assert change(an_order_at_acme, {"shipping_address": NEW_STREET}) == (200, "order_changed")
    assert state_of(work) == "new"
    assert Event.objects.get(type="order.address_corrected").actor.startswith("key:")


def test_an_order_of_which_units_are_shipped_cannot_be_changed(work, an_order_at_acme, acme_api, change):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "A", "lines": [line_units(work, "LAMP", 1)]})
    acme_api.put(status(work, "wrong_address"))

    assert Order.objects.get().processing_state == "exception"
    assert change(an_order_at_acme, {"shipping_address": NEW_STREET}) == (409, "invalid_transition")


def test_a_canceled_order_cannot_be_changed(acme, a_variant, push, shop_api, change):
    a_variant(acme, "LAMP")
    order = push({"sku": "LAMP", "quantity": 1}, when_short="wait")
    shop_api.post(f"orders/{order.pk}/cancel")

    assert change(order, {"ship_until": "2099-01-31"}) == (409, "invalid_transition")


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "missing_parameter", "shipping_address"),
        ({"shipping_address": {"address1": "1 New Street"}}, "missing_parameter", "shipping_address.country"),
        ({"shipping_address": None}, "missing_parameter", "shipping_address.country"),
        (
            {"shipping_address": NEW_STREET | {"country": "Germny"}},
            "validation_error",
            "shipping_address.country",
        ),
        ({"ship_until": "tomorrow"}, "validation_error", "ship_until"),
        ({"ship_untill": "2099-01-31"}, "validation_error", "ship_untill"),
        ({"ship_until": "2099-01-31", "gift_message": "Hi"}, "validation_error", "gift_message"),
        ({"ship_until": "2099-01-31", "order_lines": []}, "validation_error", "order_lines"),
        ({"address1": "1 New Street"}, "validation_error", "address1"),
    ],
)
def test_a_wrong_body_names_its_fault_and_changes_nothing(
    body, code, field, work, an_order_at_acme, shop_api
):
    answer = shop_api.request("PATCH", f"orders/{an_order_at_acme.pk}", body)

    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert field in [each["field"] for each in answer.json()["errors"]]
    assert not Event.objects.filter(type__endswith="ed", area="orders").exclude(type="order.created").exists()


def test_a_change_follows_if_match(work, an_order_at_acme, shop_api, change):
    path = f"orders/{an_order_at_acme.pk}"
    tag = shop_api.get(path)["ETag"]

    assert change(an_order_at_acme, {"ship_until": "2099-01-31"}, If_Match=tag) == (200, "order_changed")
    assert change(an_order_at_acme, {"ship_until": "2099-02-01"}, If_Match=tag) == (
        412,
        "precondition_failed",
    )


def test_others_orders_and_keys_without_the_scope_are_refused(
    work, an_order_at_acme, client_for, boutique, shop
):
    path, body = f"orders/{an_order_at_acme.pk}", {"ship_until": "2099-01-31"}

    assert client_for(boutique).request("PATCH", path, body).status_code == 404
    reader = client_for(shop, scopes=["orders:read"])
    assert reader.request("PATCH", path, body).status_code == 403


def test_a_changed_deadline_keeps_the_hours_of_the_partnership(
    work, an_order_at_acme, shop, acme_api, change
):
    shop.partnerships.update(hours_to_accept=48)
    change(an_order_at_acme, {"ship_until": "2099-01-31"})
    by_hours = Fulfillment.objects.get().due_at
    created = Fulfillment.objects.get().created_at

    assert by_hours is not None
    assert (by_hours - created).total_seconds() == 48 * 3600
    change(an_order_at_acme, {"ship_until": None})
    assert Fulfillment.objects.get().due_at == by_hours


def test_the_first_push_again_is_still_the_same_order(acme, a_variant, push, shop_api, change):
    a_variant(acme, "LAMP", stock=1)
    body = an_order({"sku": "LAMP", "quantity": 1})
    first = shop_api.post("orders", body).json()["order_id"]
    change(Order.objects.get(), {"shipping_address": NEW_STREET})

    for address in (ADDRESS, NEW_STREET):
        again = shop_api.post("orders", body | {"shipping_address": address, "billing_address": ADDRESS})
        again = again.json()
        assert (again["code"], again["order_id"]) == ("order_exists", first)
    assert OPERATOR.name not in Event.objects.values_list("actor", flat=True)

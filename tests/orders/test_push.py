"""The body of a push, its reading, and the answers to a wrong body (interface 4.15, contract 4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events.models import Event
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from orders.models import Order
from tests.orders.push_bodies import ADDRESS, an_order

LINE = {"sku": "LAMP", "quantity": 1}


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", stock=10, upc="036000291452", wholesale_price="5")


@pytest.fixture
def send(shop_api):
    def post(body):
        return shop_api.post("orders", body)

    return post


def read(shop_api, answer):
    assert answer.status_code == 201, answer.content
    return shop_api.get(f"orders/{answer.json()['order_id']}").json()


def test_a_push_is_answered_with_the_envelope_the_id_and_its_address(lamp, send, shop, shop_api):
    answer = send(an_order(LINE))

    assert answer.status_code == 201
    pk = Order.objects.get().pk
    assert answer.json() == {
        "success": True,
        "code": "order_created",
        "message": "The order is created.",
        "order_id": pk,
        "warnings": [],
    }
    assert answer["Location"] == f"http://testserver/v3/retailers/{shop.pk}/orders/{pk}"
    assert shop_api.get(answer["Location"].removeprefix("http://testserver")).json()["id"] == pk


def test_a_pushed_order_is_read_back(lamp, send, shop_api):
    body = an_order(
        {
            "sku": "LAMP",
            "quantity": 2,
            "billed_amount": 39.98,
            "tax_billed_amount": "3.2000",
            "notes": [{"name": "engrave", "value": "Ada"}],
        },
        type="replenish",
        id_in_source="X-1",
        shipping_method_code="UPSG",
        shipping_paid=4.9,
        shipping_tax=0,
        sales_division_code="EU",
        sales_order_number="SO-1",
        gift_message="Two\nlines",
        is_gift=True,
        ship_until="2026-12-24",
        original_created_at="2026-11-01",
        notes=[{"name": "door", "value": ""}],
    )

    order = read(shop_api, send(body))

    for name in body.keys() - {"order_lines", "shipping_address"}:
        assert order[name] == body[name], name
    address = {"address2": "", "state": "", "company_name": "", **ADDRESS}
    assert order["shipping_address"] == order["billing_address"] == address
    [line] = order["order_lines"]
    assert (line["quantity"], line["billed_amount"], line["tax_billed_amount"]) == (2, 39.98, 3.2)
    assert line["notes"] == [{"name": "engrave", "value": "Ada"}]


@pytest.mark.parametrize("amount", ["19.99", "0.0001", "9999999999.9999", "0", "1e2", "12345678.9"])
def test_money_is_returned_digit_for_digit(amount, lamp, send, shop_api):
    body = json.dumps(an_order(LINE | {"billed_amount": "AMOUNT"})).replace('"AMOUNT"', amount).encode()

    pk = send(body).json()["order_id"]

    plain = {"1e2": "100"}.get(amount, amount)
    assert f'"billed_amount":{plain},'.encode() in shop_api.get(f"orders/{pk}").content


# --- Addresses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        pytest.param({"shipping_address": ADDRESS}, id="object"),
        pytest.param({"shipping_address": json.dumps(ADDRESS)}, id="text"),
        pytest.param(ADDRESS, id="top level"),
        pytest.param({"shipping_address": "", "billing_address": "", **ADDRESS}, id="placeholders"),
        pytest.param({"shipping_address": {}, "billing_address": None, **ADDRESS}, id="empty objects"),
        pytest.param(
            {
                "shipping_address": {"address1": ADDRESS["address1"], "country": "GB"},
                **{part: value for part, value in ADDRESS.items() if part not in ("address1", "country")},
            },
            id="in both places",
        ),
    ],
)
def test_an_address_is_read_from_each_known_position(form, lamp, send, shop_api):
    body = an_order(LINE)
    del body["shipping_address"]

    order = read(shop_api, send(body | form))

    assert order["shipping_address"] == {"address2": "", "state": "", "company_name": "", **ADDRESS}
    assert order["billing_address"] == order["shipping_address"]


def test_a_different_billing_address_is_kept(lamp, send, shop_api):
    order = read(shop_api, send(an_order(LINE, billing_address={"company_name": "Shop Ltd"})))

    assert order["billing_address"]["company_name"] == "Shop Ltd"
    assert order["billing_address"]["address1"] == ""
    assert order["shipping_address"]["address1"] == ADDRESS["address1"]


def test_a_field_given_twice_with_different_values_gives_a_warning(lamp, send):
    answer = send(an_order(LINE, city="Leeds"))

    assert answer.status_code == 201
    [warning] = answer.json()["warnings"]
    assert warning.startswith("city:")
    assert Order.objects.get().shipping_address["city"] == "London"


# --- Invalid values in each field ----------------------------------------------------------------

TEXTS = {
    "retailer_order_id": 100,
    "id_in_source": 100,
    "shipping_method_code": 100,
    "sales_division_code": 100,
    "sales_order_number": 100,
    "gift_message": 2000,
}
PARTS = {"first_name": 255, "address1": 255, "country": 100, "zip_code": 30, "phone_number": 50, "email": 255}


def these(*values: Any) -> tuple[Any, ...]:
    return values


NO_AMOUNTS: tuple[Any, ...] = (-1, "x", "1,5", True, [], {}, 1.00001, 12345678901.5, "NaN", "1e11")

BAD: list[tuple[dict[str, Any], str]] = [
    *(({name: value}, name) for name in TEXTS for value in these(5, [], {}, True, "a\x00b")),
    *(({name: "x" * (longest + 1)}, name) for name, longest in TEXTS.items()),
    *(({"retailer_order_id": value}, "retailer_order_id") for value in these(None, "", "  ")),
    *(({"type": value}, "type") for value in these("gift", 5, [], "")),
    *(({name: value}, name) for name in ("shipping_paid", "shipping_tax") for value in NO_AMOUNTS),
    *(({"is_gift": value}, "is_gift") for value in these("yes", "true", 1, 0, [], {})),
    *(
        ({name: value}, name)
        for name in ("ship_until", "original_created_at")
        for value in these("soon", "2026-13-01", "2026-02-30", "24.12.2026", 20261224, [], {}, True)
    ),
    *(
        ({name: value}, name)
        for name in ("shipping_address", "billing_address")
        for value in these("string", "[]", "{", 5, ["x"], True)
    ),
    *(
        ({name: ADDRESS | {part: value}}, f"{name}.{part}")
        for name in ("shipping_address", "billing_address")
        for part, longest in PARTS.items()
        for value in these(5, [], "x" * (longest + 1))
    ),
    *(
        ({"shipping_address": ADDRESS | {part: ""}}, f"shipping_address.{part}")
        for part in ("country", "address1")
    ),
    *(({"shipping_address": value}, "shipping_address.country") for value in these(None, "", "  ")),
    ({"notes": "x"}, "notes"),
    ({"notes": [{"name": "a", "value": "x" * 1999}] * 11}, "notes"),
    ({"notes": {}}, "notes"),
    ({"notes": [5]}, "notes[0]"),
    ({"notes": [{"name": "a", "value": "b"}, {"value": "b"}]}, "notes[1].name"),
    ({"notes": [{"name": "a"}]}, "notes[0].value"),
    ({"notes": [{"name": "a", "value": 5}]}, "notes[0].value"),
    *(({"order_lines": value}, "order_lines") for value in these(None, [], {}, "x", 5, [LINE] * 1001)),
    ({"order_lines": [LINE, "x"]}, "order_lines[1]"),
    ({"order_lines": [LINE, None]}, "order_lines[1]"),
]
BAD_LINES: list[tuple[dict[str, Any], str]] = [
    *(
        ({"quantity": value}, "quantity")
        for value in these(None, 0, -1, 1.5, "x", "", True, [], 2**31, 10**40)
    ),
    *(({name: value}, name) for name in ("sku", "upc") for value in these(5, [], {}, True)),
    ({"sku": "x" * 101}, "sku"),
    ({"upc": "1" * 15}, "upc"),
    *(
        ({name: value}, name)
        for name in ("supplier_id", "variant_id")
        for value in these(0, -1, "x", 1.5, True, [], 2**63)
    ),
    *(({name: value}, name) for name in ("billed_amount", "tax_billed_amount") for value in NO_AMOUNTS),
    ({"notes": [{"name": "a"}]}, "notes[0].value"),
    ({"sku": ""}, "sku"),
]


def refused(answer, field: str) -> None:
    """Check that the answer is a 400 whose errors and message name the field, and nothing was created."""
    body = answer.json()
    assert (answer.status_code, body["success"]) == (400, False), body
    assert body["code"] in ("validation_error", "missing_parameter")
    assert field in [each["field"] for each in body["errors"]]
    assert field in body["message"]
    assert body["request_id"]
    assert not Order.objects.exists()
    assert not Event.objects.exists()
    assert not StockLevel.objects.filter(reserved__gt=0).exists()


@pytest.mark.parametrize(("change", "field"), BAD, ids=lambda value: repr(value)[:60])
def test_a_wrong_order_names_the_fault_and_creates_nothing(change, field, lamp, send):
    refused(send(an_order(LINE) | change), field)


def test_an_unknown_word_is_answered_with_the_known_words(lamp, send):
    assert send(an_order(LINE, type="gift")).json()["message"] == "type: Must be one of dropship, replenish."


@pytest.mark.parametrize(("change", "field"), BAD_LINES, ids=lambda value: repr(value)[:60])
def test_a_wrong_line_names_the_fault_and_creates_nothing(change, field, lamp, send):
    refused(send(an_order(LINE, LINE | change)), f"order_lines[1].{field}")


@pytest.mark.parametrize("body", [b"", b"{}", b"  "])
def test_the_answer_to_an_empty_push_names_all_required_fields(body, send):
    answer = send(body)

    assert (answer.status_code, answer.json()["code"]) == (400, "missing_parameter")
    assert [each["field"] for each in answer.json()["errors"]] == [
        "retailer_order_id",
        "order_lines",
        "shipping_address.country",
        "shipping_address.address1",
    ]


@pytest.mark.parametrize("body", [b"{", b"[1", b'{"a": 1, "a": 2}', b"\xff", b'{"a": 1e99999}', b"NaN"])
def test_a_body_that_cannot_be_read_is_refused(body, send):
    answer = send(body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")


def test_a_number_too_large_for_its_column_is_named(lamp, send):
    body = json.dumps(an_order(LINE, shipping_paid="NUMBER")).encode().replace(b'"NUMBER"', b"1e400")

    refused(send(body), "shipping_paid")


@pytest.mark.parametrize("body", [b"[]", b"5", b'"x"'])
def test_a_body_that_is_no_object_is_refused(body, send):
    answer = send(body)

    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")


def test_a_body_of_null_is_no_body(send):
    answers = [send(body).json() for body in (b"null", b"{}")]

    assert answers[0]["code"] == "missing_parameter"
    assert answers[0]["errors"] == answers[1]["errors"]


@pytest.mark.parametrize(
    ("misspelled", "field"),
    [
        ({"retailer_orderid": "R"}, "retailer_orderid"),
        ({"Retailer_Order_Id": "R"}, "Retailer_Order_Id"),
        ({"orderlines": [LINE]}, "orderlines"),
        ({"shipping_adress": ADDRESS}, "shipping_adress"),
        ({"shippingAddress": ADDRESS}, "shippingAddress"),
    ],
)
def test_a_misspelled_required_field_is_reported_with_the_right_one(misspelled, field, lamp, send):
    body = {"retailer_order_id": "R", "shipping_address": ADDRESS, "order_lines": [LINE]}
    [expected] = [name for name, value in body.items() if value in misspelled.values()]
    del body[expected]

    answer = send(body | misspelled)

    refused(answer, field)
    assert expected in answer.json()["message"]


def test_a_misspelled_quantity_is_reported_with_its_line(lamp, send):
    refused(send(an_order(LINE, {"sku": "LAMP", "quantitty": 2})), "order_lines[1].quantitty")


def test_an_unknown_field_is_ignored_and_reported(lamp, send):
    answer = send(
        an_order(
            LINE | {"color": "red"},
            coupon="X",
            shipping_address=ADDRESS | {"zip": "1"},
            notes=[{"name": "a", "value": "b", "by": "c"}],
        )
    )

    assert answer.status_code == 201
    assert [each.partition(":")[0] for each in answer.json()["warnings"]] == [
        "coupon",
        "shipping_address.zip",
        "notes[0].by",
        "order_lines[0].color",
    ]


@pytest.mark.parametrize(
    "name", ["billing_address", "shipping_paid", "is_gift", "ship_until", "notes", "type"]
)
def test_an_optional_field_may_be_null(name, lamp, send):
    assert send(an_order(LINE, **{name: None})).status_code == 201


# --- The same order again ------------------------------------------------------------------------


@pytest.fixture
def known():
    return an_order(
        LINE | {"billed_amount": 19.9}, shipping_paid=4, ship_until="2026-12-24", gift_message="Hi"
    )


@pytest.mark.parametrize(
    "again",
    [
        pytest.param({}, id="to the byte"),
        pytest.param({"shipping_paid": "4.00"}, id="another spelling of a number"),
        pytest.param({"shipping_tax": None, "sales_order_number": "", "notes": []}, id="nothing added"),
        pytest.param({"type": "dropship", "is_gift": False}, id="the defaults spelled out"),
        pytest.param({"shipping_address": json.dumps(ADDRESS)}, id="the address as a text"),
        pytest.param({"shipping_address": None, **ADDRESS}, id="the address at the top level"),
        pytest.param({"billing_address": ADDRESS}, id="the same billing address"),
        pytest.param(
            {"order_lines": [{"billed_amount": "19.900", "quantity": "1", "sku": " LAMP "}]}, id="line"
        ),
        pytest.param({"coupon": "unknown"}, id="something ignored"),
    ],
)
def test_the_same_order_again_is_the_same_order(again, known, lamp, send):
    first = send(known)
    second = send(dict(reversed((known | again).items())))

    assert (second.status_code, second.json()["code"]) == (200, "order_exists")
    assert second.json()["order_id"] == first.json()["order_id"]
    assert second["Location"] == first["Location"]
    assert Order.objects.count() == Fulfillment.objects.count() == 1
    assert StockLevel.objects.get().reserved == 1


@pytest.mark.parametrize(
    ("other", "differing"),
    [
        ({"shipping_paid": 5}, ["shipping_paid"]),
        ({"shipping_address": ADDRESS | {"city": "Leeds"}}, ["shipping_address", "billing_address"]),
        ({"billing_address": ADDRESS | {"city": "Leeds"}}, ["billing_address"]),
        ({"order_lines": [LINE | {"billed_amount": 19.9, "quantity": 2}]}, ["order_lines[0].quantity"]),
        (
            {"order_lines": [{"upc": "036000291452", "quantity": 1, "supplier_id": 5}]},
            ["order_lines[0].sku", "order_lines[0].upc", "order_lines[0].supplier_id"],
        ),
        ({"order_lines": [LINE | {"billed_amount": 19.9}, LINE]}, ["order_lines"]),
        ({"gift_message": "Ho"}, ["gift_message"]),
        ({"is_gift": True}, ["is_gift"]),
        ({"type": "replenish"}, ["type"]),
        ({"ship_until": "2030-01-31"}, ["ship_until"]),
    ],
    ids=repr,
)
def test_other_content_under_a_known_number_is_a_conflict(other, differing, known, lamp, send):
    pk = send(known).json()["order_id"]

    answer = send(known | other)

    assert (answer.status_code, answer.json()["code"]) == (409, "order_conflict")
    assert str(pk) in answer.json()["message"]
    named = [each["field"] for each in answer.json()["errors"]]
    assert [field for field in named if field != "order_lines[0].billed_amount"] == differing
    assert f"differs in {', '.join(named)}." in answer.json()["message"]
    assert Order.objects.count() == 1


def test_the_same_order_is_known_also_when_its_goods_are_gone(known, lamp, send):
    """A retry needs nothing from the catalogue, because the first push was accepted."""
    send(known)
    lamp.listed = False
    lamp.save(update_fields=["listed"])

    assert send(known).json()["code"] == "order_exists"


def test_a_number_is_unique_to_its_retailer(rival, boutique, a_variant, send, client_for):
    a_variant(rival, "LAMP", stock=9)
    body = an_order(LINE)

    assert send(body).json()["code"] == "order_created"
    assert client_for(boutique).post("orders", body).json()["code"] == "order_created"


# --- Finding the ordered variant -----------------------------------------------------------------


def lines_of(answer) -> list[tuple[str, str]]:
    assert answer.status_code == 201, answer.content
    works = Fulfillment.objects.filter(order_id=answer.json()["order_id"]).order_by("lines__order_line")
    return [*works.values_list("supplier__name", "lines__variant__sku")]


def test_a_line_is_found_by_its_variant_id_first(lamp, rival, a_variant, send):
    other = a_variant(rival, "RUG", stock=5)

    assert lines_of(send(an_order(LINE | {"variant_id": other.pk}))) == [("Rival", "RUG")]


def test_a_line_is_found_by_supplier_and_sku(lamp, rival, a_variant, send):
    a_variant(rival, "LAMP", stock=5, wholesale_price="99")

    assert lines_of(send(an_order(LINE | {"supplier_id": rival.pk}))) == [("Rival", "LAMP")]


def test_a_line_is_found_by_upc_before_its_sku(lamp, rival, a_variant, send):
    a_variant(rival, "RUG", stock=5)

    found = lines_of(send(an_order({"upc": "036000291452", "sku": "RUG", "quantity": 1})))

    assert found == [("Acme", "LAMP")]


def test_a_line_is_found_by_sku_when_no_variant_has_its_upc(lamp, send):
    assert lines_of(send(an_order(LINE | {"upc": "012345678905"}))) == [("Acme", "LAMP")]


def test_a_line_is_found_by_upc_at_one_supplier(lamp, rival, a_variant, send):
    a_variant(rival, "R-LAMP", stock=5, upc="036000291452", wholesale_price="99")
    line = {"upc": "036000291452", "supplier_id": rival.pk, "quantity": 1}

    assert lines_of(send(an_order(line))) == [("Rival", "R-LAMP")]


@pytest.mark.parametrize(
    "line",
    [
        {"sku": "SOFA"},
        {"sku": "lamp"},
        {"upc": "012345678905"},
        {"variant_id": 10**15},
        {"variant_id": 10**15, "sku": "LAMP"},
        {"supplier_id": 10**15, "sku": "LAMP"},
    ],
    ids=repr,
)
def test_a_line_without_a_matching_variant_is_named(line, lamp, send):
    answer = send(an_order(LINE, {"quantity": 1, **line}))

    refused(answer, "order_lines[1]")
    assert str(next(iter(line.values()))) in answer.json()["message"]


def test_all_lines_without_a_matching_variant_are_named_at_once(lamp, send):
    answer = send(an_order({"sku": "A", "quantity": 1}, LINE, {"sku": "B", "quantity": 1}))

    assert [each["field"] for each in answer.json()["errors"]] == ["order_lines[0]", "order_lines[2]"]


@pytest.mark.parametrize("way", ["sku", "variant_id", "upc"])
def test_a_delisted_variant_cannot_be_ordered(way, lamp, send):
    lamp.listed = False
    lamp.save(update_fields=["listed"])

    refused(
        send(an_order({way: {"variant_id": lamp.pk}.get(way, getattr(lamp, way, "")), "quantity": 1})),
        "order_lines[0]",
    )


def test_only_active_partners_are_ordered_from(lamp, acme, shop, send):
    shop.partnerships.filter(supplier=acme).update(is_active=False)

    for line in (LINE, {"variant_id": lamp.pk, "quantity": 1}, LINE | {"supplier_id": acme.pk}):
        refused(send(an_order(line)), "order_lines[0]")


def test_a_stranger_cannot_order_and_learns_nothing(lamp, boutique, client_for):
    """Boutique has no partnership with Acme, so it gets the same answer as for an unknown variant."""
    api = client_for(boutique)

    hers = api.post("orders", an_order({"variant_id": lamp.pk, "quantity": 1})).json()
    none = api.post("orders", an_order({"variant_id": 10**15, "quantity": 1})).json()

    assert hers["message"].replace(str(lamp.pk), "#") == none["message"].replace(str(10**15), "#")


# --- Costs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [1, 30])
def test_a_push_of_any_number_of_lines_costs_the_same(
    lines, acme, rival, a_variant, send, django_assert_num_queries
):
    for number in range(lines):
        a_variant((acme, rival)[number % 2], f"LAMP-{number}", stock=9)
    a_variant(rival, "RUG", stock=9)
    body = an_order(
        {"sku": "RUG", "quantity": 1}, *({"sku": f"LAMP-{number}", "quantity": 1} for number in range(lines))
    )

    # Store the first use of the key now, because it costs a query.
    send(an_order({"sku": "RUG", "quantity": 1}))
    # Queries: the key; the retailer's currency; a savepoint; the order; partners with their warehouses,
    # variants; stock locked; waiting orders; lines; fulfillments; their lines; the decision; stock written;
    # events; the stamp; the savepoint released.
    with django_assert_num_queries(16):
        assert send(body).status_code == 201

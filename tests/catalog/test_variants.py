"""The API creates, reads and changes variants (endpoint 8, contract 5 and 10)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from catalog.models import Variant
from events.models import Event

SHIRT = {
    "sku": "TS-1",
    "model": "TS",
    "title": "T-shirt",
    "retail_price": 19.99,
    "wholesale_price": 8.5,
    "description": "Soft.",
    "description_extra": "Washes at 60°",
    "upc": "036000291452",
    "ean": "4006381333931",
    "id_in_source": "77",
    "weight": 0.2,
    "images": "https://img.example/1.jpg|https://img.example/2.jpg",
}


def faults(answer: Any) -> dict[str, str]:
    return {each["field"]: each["code"] for each in answer.json()["errors"]}


def test_a_supplier_creates_a_variant_and_reads_it_back(acme, client_for):
    client = client_for(acme)

    created = client.post("variants", SHIRT)

    assert created.status_code == 201, created.content
    variant = created.json()
    assert {name: variant[name] for name in SHIRT} == {
        **SHIRT,
        "images": ["https://img.example/1.jpg", "https://img.example/2.jpg"],
    }
    assert variant["id"] == Variant.objects.get().pk
    assert variant["listed"] is True
    assert created["Location"].endswith(f"/v3/suppliers/{acme.pk}/variants/{variant['id']}")
    assert client.get(f"variants/{variant['id']}").json() == variant
    assert client.get(f"/v3/variants/{variant['id']}").json() == variant
    assert client.get("variants").json() == [variant]


def test_money_is_exported_digit_for_digit(acme, client_for):
    prices = b'"retail_price": 1234567890.0001, "wholesale_price": 8.50'
    body = b'{"sku": "A", "title": "A", "weight": "0.10", ' + prices + b"}"

    answer = client_for(acme).post("variants", body)

    assert b'"retail_price":1234567890.0001,' in answer.content
    assert b'"wholesale_price":8.5,' in answer.content
    assert b'"weight":0.1,' in answer.content


def test_only_sku_title_and_price_are_required(acme, client_for):
    client = client_for(acme)
    assert client.post("variants", {"sku": "A", "title": "A", "retail_price": 0}).status_code == 201

    answer = client.post("variants", {})

    assert answer.status_code == 400
    assert answer.json()["code"] == "missing_parameter"
    assert faults(answer) == dict.fromkeys(("sku", "title", "retail_price"), "required")


def test_a_sku_is_unique_for_its_supplier(acme, rival, client_for):
    assert client_for(acme).post("variants", SHIRT).status_code == 201
    assert client_for(rival).post("variants", SHIRT).status_code == 201

    again = client_for(acme).post("variants", {**SHIRT, "title": "Another"})

    assert again.status_code == 409
    assert again.json()["code"] == "sku_exists"
    assert faults(again) == {"sku": "sku_exists"}
    assert Variant.objects.for_supplier(acme).get().title == "T-shirt"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sku", ""),
        ("sku", "  "),
        ("sku", None),
        ("sku", 5),
        ("sku", "A" * 101),
        ("sku", "A\u0000"),
        ("title", ["T"]),
        ("title", "x" * 501),
        ("retail_price", -0.01),
        ("retail_price", "1.23456"),
        ("retail_price", "NaN"),
        ("retail_price", "Infinity"),
        ("retail_price", "1,5"),
        ("retail_price", "१२"),
        ("retail_price", True),
        ("retail_price", None),
        ("retail_price", 10**12),
        ("wholesale_price", -1),
        ("weight", -1),
        ("weight", "heavy"),
        ("upc", 36000291452),
        ("upc", "036000291453"),
        ("upc", "4006381333931"),
        ("upc", "٠٣٦٠٠٠٢٩١٤٥٢"),
        ("ean", "036000291452"),
        ("ean", "4006381333930"),
        ("gtin", "123"),
        ("gtin", "10012345678903"),
        ("images", 5),
        ("images", [1]),
        ("images", "ftp://img.example/1.jpg"),
        ("images", "picture"),
        ("images", ["https://img.example/1 2.jpg"]),
        ("images", "https://[::1/1.jpg"),
        ("description_bullets", {"a": 1}),
        ("description_bullets", ["a\u0000"]),
        ("special_sale_price_start", "yesterday"),
        ("special_sale_price_start", "9999999-01-01"),
        ("options", "red"),
        ("listed", "yes"),
        ("listed", 1),
        ("listed", None),
    ],
)
def test_a_wrong_value_is_refused_by_its_fields_name(acme, client_for, field, value):
    answer = client_for(acme).post("variants", {**SHIRT, field: value})

    assert answer.status_code == 400, answer.content
    in_array = field in ("images", "description_bullets") and isinstance(value, list)
    assert list(faults(answer)) == [f"{field}[0]" if in_array else field]
    assert not Variant.objects.exists()


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 400])
def test_invalid_numbers_never_reach_the_database(acme, client_for, number):
    body = b'{"sku": "A", "title": "A", "retail_price": ' + number + b"}"

    answer = client_for(acme).post("variants", body)

    assert answer.status_code == 400
    assert answer.json()["code"] == ("validation_error" if number == b"1e999" else "invalid_json")


@pytest.mark.parametrize(
    ("gtin", "also"),
    [("036000291452", "upc"), ("4006381333931", "ean"), ("96385074", "ean"), ("10012345678902", None)],
)
def test_a_gtin_is_also_a_upc_or_an_ean_by_its_length(acme, client_for, gtin, also):
    answer = client_for(acme).post("variants", {"sku": "A", "title": "A", "retail_price": 1, "gtin": gtin})

    variant = answer.json()
    assert variant["gtin"] == gtin
    assert {name: variant[name] for name in ("upc", "ean")} == {"upc": "", "ean": ""} | (
        {also: gtin} if also else {}
    )


def test_a_gtin_that_contradicts_the_upc_is_refused(acme, client_for):
    answer = client_for(acme).post("variants", {**SHIRT, "gtin": "012345678905"})

    assert answer.status_code == 400
    assert list(faults(answer)) == ["gtin"]


@pytest.mark.parametrize(
    "images",
    [
        "https://a.example/1.jpg, https://a.example/2.jpg",
        "https://a.example/1.jpg\nhttps://a.example/2.jpg",
        "https://a.example/1.jpg|https://a.example/2.jpg|",
        ["https://a.example/1.jpg", "https://a.example/2.jpg", "https://a.example/1.jpg"],
    ],
)
def test_images_are_urls_in_one_text_or_an_array(acme, client_for, images):
    answer = client_for(acme).post("variants", {**SHIRT, "images": images})

    assert answer.json()["images"] == ["https://a.example/1.jpg", "https://a.example/2.jpg"]


def test_a_variant_without_images_has_an_empty_array_of_them(acme, client_for, a_variant):
    variant = a_variant(acme, "A")
    client = client_for(acme)

    for path in (f"variants/{variant.pk}", f"/v3/variants/{variant.pk}"):
        shown = client.get(path).json()
        assert (shown["images"], shown["description_bullets"]) == ([], [])


def test_the_answer_of_a_variant_is_a_valid_body_of_put(acme, client_for):
    client = client_for(acme)
    made = client.post("variants", SHIRT).json()

    put = client.put(f"variants/{made['id']}", made)

    assert put.status_code == 200, put.content
    assert put.json() == made


def test_options_and_properties_are_kept_and_returned(acme, client_for):
    options = [{"type": "color", "value": "red"}, {"type": "size", "value": "L"}]

    answer = client_for(acme).post(
        "variants",
        {
            **SHIRT,
            "options": options,
            "properties": [{"name": "Fabric", "value": "wool"}, {"type": "Fit", "value": "slim"}],
        },
    )

    assert answer.json()["options"] == options
    assert answer.json()["properties"] == [
        {"name": "Fabric", "value": "wool"},
        {"name": "Fit", "value": "slim"},
    ]


def test_a_wrong_option_is_named_with_its_path(acme, client_for):
    answer = client_for(acme).post("variants", {**SHIRT, "options": [{"type": "taste", "value": "sweet"}]})

    assert list(faults(answer)) == ["options[0].type"]


def test_a_sale_ends_after_it_starts(acme, client_for):
    sale = {"special_sale_price_start": "2026-02-01", "special_sale_price_end": "2026-01-01T00:00:00Z"}

    assert list(faults(client_for(acme).post("variants", SHIRT | sale))) == ["special_sale_price_end"]


def test_patch_changes_the_named_fields_and_records_them(acme, client_for, a_variant):
    variant = a_variant(acme, "A", description="Old")
    client = client_for(acme)

    answer = client.request("PATCH", f"variants/{variant.pk}", {"retail_price": 21, "title": "New"})

    assert answer.status_code == 200, answer.content
    assert (answer.json()["retail_price"], answer.json()["title"]) == (21, "New")
    assert answer.json()["description"] == "Old"
    assert answer.json()["updated_at"] > answer.json()["created_at"]
    event = Event.objects.get()
    assert (event.type, event.area, event.supplier) == ("variant.updated", "catalog", acme)
    assert event.data["changed"]["retail_price"] == {"from": "19.99", "to": "21"}
    assert event.actor.startswith("key:")


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"properties": [{}]}, "properties[0].value", "required"),
        ({"properties": [{"name": "a"}]}, "properties[0].value", "required"),
        ({"properties": [{"value": "a"}]}, "properties[0].name", "required"),
        ({"options": [{"type": "color"}]}, "options[0].value", "required"),
        ({"options": [{"value": "red"}]}, "options[0].type", "required"),
        ({"options": [{}]}, "options[0].type", "required"),
        ({"options": ["red"]}, "options[0]", "invalid"),
        ({"title": ""}, "title", "blank"),
        ({"title": None}, "title", "null"),
        ({"sku": ""}, "sku", "blank"),
        ({"retail_price": None}, "retail_price", "null"),
        ({"images": ["https://a.example/1.jpg", "nope"]}, "images[1]", "invalid_url"),
        ({"upc": "012345678905"}, "upc", "invalid"),
        ({"gtin": "036000291453"}, "gtin", "check_digit"),
        ({"special_sale_price_end": "2025-01-01"}, "special_sale_price_end", "invalid"),
    ],
)
def test_patch_checks_its_fields_like_post(acme, client_for, change, field, code):
    client = client_for(acme)
    sale = {"special_sale_price_start": "2026-01-01", "gtin": "036000291452"}
    made = client.post("variants", SHIRT | sale).json()

    answer = client.request("PATCH", f"variants/{made['id']}", change)

    assert answer.status_code == 400, answer.content
    assert (field, code) in faults(answer).items()
    assert client.get(f"variants/{made['id']}").json() == made


def test_a_patch_of_other_fields_accepts_a_stored_sale_that_ends_before_its_start(
    acme, client_for, a_variant
):
    start, end = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    variant = a_variant(acme, "A", special_sale_price_start=start, special_sale_price_end=end)

    answer = client_for(acme).request("PATCH", f"variants/{variant.pk}", {"title": "New"})

    assert answer.status_code == 200, answer.content


def test_patch_takes_whole_objects_and_the_other_name_of_a_property(acme, client_for, a_variant):
    variant = a_variant(acme, "A", properties=[{"name": "Fabric", "value": "wool"}])
    change = {"properties": [{"type": "Fit", "value": "slim"}], "options": []}

    answer = client_for(acme).request("PATCH", f"variants/{variant.pk}", change)

    assert answer.json()["properties"] == [{"name": "Fit", "value": "slim"}]


def test_a_patch_that_changes_nothing_records_no_event(acme, client_for, a_variant):
    variant = a_variant(acme, "A")

    answer = client_for(acme).request("PATCH", f"variants/{variant.pk}", {"retail_price": "19.9900"})

    assert answer.status_code == 200
    assert not Event.objects.exists()
    variant.refresh_from_db()
    assert answer.json()["updated_at"] == variant.updated_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_put_replaces_all_fields_but_lists_a_delisted_variant_only_on_request(acme, client_for, a_variant):
    variant = a_variant(acme, "A", description="Old", listed=False)
    body = {"sku": "A", "title": "New", "retail_price": 5}
    client = client_for(acme)

    replaced = client.put(f"variants/{variant.pk}", body).json()
    assert (replaced["title"], replaced["description"], replaced["listed"]) == ("New", "", False)
    assert client.put(f"variants/{variant.pk}", {**body, "listed": True}).json()["listed"] is True
    assert client.put(f"variants/{variant.pk}", {"title": "X"}).json()["code"] == "missing_parameter"


def test_a_sku_can_change_but_not_to_one_in_use(acme, client_for, a_variant):
    variant = a_variant(acme, "A")
    a_variant(acme, "B")
    client = client_for(acme)

    assert client.request("PATCH", f"variants/{variant.pk}", {"sku": "C"}).json()["sku"] == "C"
    taken = client.request("PATCH", f"variants/{variant.pk}", {"sku": "B"})
    assert (taken.status_code, taken.json()["code"]) == (409, "sku_exists")
    variant.refresh_from_db()
    assert variant.sku == "C"


def test_creation_is_an_event_of_the_catalogue(acme, client_for):
    variant = client_for(acme).post("variants", SHIRT).json()

    event = Event.objects.get()
    assert (event.type, event.area, event.supplier, event.retailer) == (
        "variant.created",
        "catalog",
        acme,
        None,
    )
    assert (event.data["variant_id"], event.data["sku"]) == (variant["id"], "TS-1")

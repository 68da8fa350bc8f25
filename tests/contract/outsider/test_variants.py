"""Variants: how a supplier creates and reads them (interface endpoint 8 and 2.3; contract 5, 10 and 12)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from .http_client import digits, fault, unique, well
from .steps import new_variant, variant_by_sku

WHOLE = {
    "model": "LAMP-9",
    "retail_price": Decimal("19.99"),
    "wholesale_price": Decimal("10.0101"),
    "title": "Lämp — 光",
    "description": "Gives light.\nTwo lines.",
    "description_extra": "One\nTwo",
    "id_in_source": "SRC-1",
    "weight": Decimal("0.3"),
    "images": "https://img.example.com/1.jpg|https://img.example.com/2.jpg",
}


def test_a_variant_with_all_fields_is_created_and_returned(acme):
    """Interface 8; contract 5: the answer is 201 with the variant and its `id`."""
    body = WHOLE | {"sku": unique("V"), "upc": digits(12), "ean": digits(13)}
    made = well(acme.post("variants", body), 201)
    assert isinstance(made["id"], int)
    for field in set(body) - {"images"}:
        assert made[field] == body[field], field
    assert "https://img.example.com/2.jpg" in str(made["images"])
    again = well(acme.get(f"/v3/variants/{made['id']}"))
    assert {field: again[field] for field in body} == {field: made[field] for field in body}


def test_only_sku_title_and_retail_price_are_required(acme):
    """Contract 5: a new variant needs `sku`, `title` and `retail_price`."""
    well(acme.post("variants", {"sku": unique("V"), "title": "x", "retail_price": 1}), 201)


@pytest.mark.parametrize("field", ["sku", "title", "retail_price"])
@pytest.mark.parametrize("value", ["absent", None, ""])
def test_a_missing_required_field_is_named(acme, field, value):
    """Contract 12: the code is `missing_parameter` if required fields are only absent.

    A required field that is null or empty is an error too.
    """
    body = {"sku": unique("V"), "title": "x", "retail_price": 1, field: value}
    if value == "absent":
        del body[field]
    code = "missing_parameter" if value == "absent" else ("missing_parameter", "validation_error")
    fault(acme.post("variants", body), 400, code, field)


@pytest.mark.parametrize(
    "price", ["19.99", "0.1", "0", "0.0001", "1234567.8901", "19.9", "1e2", "100", "0.3", "1.10"]
)
@pytest.mark.parametrize("field", ["retail_price", "wholesale_price", "weight"])
def test_numbers_are_exact_decimals(acme, field, price):
    """Contract 2: a number is stored and returned with exactly its decimals, such as 19.99."""
    body = {"sku": unique("V"), "title": "x", "retail_price": Decimal(1), field: Decimal(price)}
    made = well(acme.post("variants", body), 201)
    assert isinstance(made[field], int | Decimal), "a JSON number, not a text (interface 2.3)"
    assert made[field] == Decimal(price)
    assert well(acme.get(f"/v3/variants/{made['id']}"))[field] == Decimal(price)


@pytest.mark.parametrize("field", ["retail_price", "wholesale_price", "weight", "special_sale_price"])
@pytest.mark.parametrize(
    "raw",
    [
        "-1",
        "-0.01",
        "1e400",
        "1e30",
        "99999999999999999999",
        "1.00001",
        '"dear"',
        "true",
        "[]",
        "{}",
        "0.000000001",
        '""',
    ],
)
def test_a_number_that_does_not_fit_is_refused(acme, field, raw):
    """Contract 2: negative prices and numbers with too many digits are validation errors."""
    fields = {"sku": f'"{unique("V")}"', "title": '"x"', "retail_price": "1"} | {field: raw}
    body = ", ".join(f'"{name}": {value}' for name, value in fields.items())
    answer = acme.post("variants", f"{{{body}}}".encode())
    if raw == '""' and field != "retail_price":
        assert answer.status in (201, 400), answer
    else:
        fault(answer, 400, "validation_error", field)


@pytest.mark.parametrize("raw", ["NaN", "Infinity", "-Infinity"])
def test_a_value_that_is_not_a_number_is_refused(acme, raw):
    """Contract 2: NaN and Infinity are validation errors."""
    answer = acme.post(
        "variants", f'{{"sku": "{unique("V")}", "title": "x", "retail_price": {raw}}}'.encode()
    )
    fault(answer, 400, ("validation_error", "invalid_json"))


def test_a_duplicate_sku_is_409_and_changes_nothing(acme):
    """Contract 5: a `sku` that the supplier already has gets 409 `sku_exists`."""
    variant = new_variant(acme, title="first")
    body = {"sku": variant["sku"], "title": "second", "retail_price": 5}
    answer = acme.post("variants", body)
    fault(answer, 409, "sku_exists")
    assert variant["sku"] in answer.json["message"]
    assert well(acme.get(f"/v3/variants/{variant['id']}"))["title"] == "first"


def test_two_suppliers_may_have_the_same_sku(acme, rival):
    """Contract 5: a `sku` is unique only among the variants of one supplier."""
    sku = unique("BOTH")
    assert new_variant(acme, sku=sku)["id"] != new_variant(rival, sku=sku)["id"]


@pytest.mark.parametrize(
    ("field", "length"),
    [("upc", 12), ("ean", 8), ("ean", 13), ("gtin", 12), ("gtin", 13), ("gtin", 14), ("gtin", 8)],
)
def test_codes_of_a_valid_length_are_accepted(acme, field, length):
    """Contract 12: a UPC has 12 digits, an EAN 8 or 13, and a GTIN 8, 12, 13 or 14."""
    code = digits(length)
    made = well(
        acme.post("variants", {"sku": unique("V"), "title": "x", "retail_price": 1, field: code}), 201
    )
    if field != "gtin":
        assert made[field] == code


@pytest.mark.parametrize(("length", "field"), [(12, "upc"), (13, "ean"), (8, "ean")])
def test_a_gtin_is_a_upc_or_an_ean_by_its_length(acme, length, field):
    """Contract 10: the length of a `gtin` decides whether it is also the UPC or the EAN."""
    code = digits(length)
    made = well(
        acme.post("variants", {"sku": unique("V"), "title": "x", "retail_price": 1, "gtin": code}), 201
    )
    assert made[field] == code


def test_leading_zeros_of_a_code_are_kept(acme):
    """Contract 12: a code is a text, so it keeps its leading zeros."""
    made = well(
        acme.post("variants", {"sku": unique("V"), "title": "x", "retail_price": 1, "upc": "036000291452"}),
        201,
    )
    assert made["upc"] == "036000291452"


@pytest.mark.parametrize("field", ["upc", "ean", "gtin"])
@pytest.mark.parametrize(
    "kind", ["check digit", "too short", "too long", "letters", "spaces", "arabic digits"]
)
def test_wrong_codes_are_refused(acme, field, kind):
    """Contract 5 and 10: a `upc`, `ean` or `gtin` must have a valid length and check digit."""
    right = digits(12 if field == "upc" else 13)
    code = {
        "check digit": right[:-1] + str((int(right[-1]) + 1) % 10),
        "too short": right[:5],
        "too long": right + "000",
        "letters": "A" + right[1:],
        "spaces": " " + right[1:],
        "arabic digits": right[:-1] + "٣",
    }[kind]
    answer = acme.post("variants", {"sku": unique("V"), "title": "x", "retail_price": 1, field: code})
    fault(answer, 400, "validation_error", field)


@pytest.mark.parametrize(
    "field", ["sku", "title", "model", "description", "description_extra", "id_in_source", "images"]
)
@pytest.mark.parametrize("value", [5, True, {"a": 1}])
def test_a_value_that_is_not_a_text_is_refused(acme, field, value):
    """Interface 2.3: these fields are strings. Contract 12: a number instead of a string is refused."""
    body = {"sku": unique("V"), "title": "x", "retail_price": 1, field: value}
    fault(acme.post("variants", body), 400, "validation_error", field)


@pytest.mark.parametrize("field", ["sku", "title", "model", "id_in_source"])
def test_a_much_too_long_text_is_refused(acme, field):
    """Contract, head: a value that does not fit gets a clear error that names the field."""
    body = {"sku": unique("V"), "title": "x", "retail_price": 1, field: "x" * 100_000}
    fault(acme.post("variants", body), 400, "validation_error", field)


def test_the_optional_extras_are_kept(acme):
    """Contract 5: `special_sale_price`, its start and end, and `description_bullets` are optional."""
    extras: dict[str, Any] = {
        "special_sale_price": Decimal("9.5"),
        "special_sale_price_start": "2026-01-01T00:00:00.000000Z",
        "special_sale_price_end": "2026-02-01T00:00:00.000000Z",
        "description_bullets": ["bright", "small"],
    }
    variant = new_variant(acme, **extras)
    again = well(acme.get(f"/v3/variants/{variant['id']}"))
    assert {field: again[field] for field in extras} == extras


@pytest.mark.parametrize(
    "given", ["2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"]
)
def test_times_come_out_in_utc(acme, given):
    """Contract 2: all times are ISO 8601 in UTC, with microseconds and `Z`."""
    variant = new_variant(acme, special_sale_price=1, special_sale_price_start=given)
    assert variant["special_sale_price_start"] == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize("field", ["special_sale_price_start", "special_sale_price_end"])
@pytest.mark.parametrize(
    "value", ["soon", "2026-13-01T00:00:00Z", 5, "2026-02-30T00:00:00Z", "01/02/2026", True]
)
def test_a_value_that_is_not_a_time_is_refused(acme, field, value):
    """Interface 2.4: the value is an ISO 8601 date with a time."""
    body = {"sku": unique("V"), "title": "x", "retail_price": 1, "special_sale_price": 1, field: value}
    fault(acme.post("variants", body), 400, "validation_error", field)


def test_a_sale_that_ends_before_it_starts_is_refused(acme):
    """Contract, head: impossible values get a clear error."""
    answer = acme.post(
        "variants",
        {
            "sku": unique("V"),
            "title": "x",
            "retail_price": 1,
            "special_sale_price": 1,
            "special_sale_price_start": "2026-02-01T00:00:00Z",
            "special_sale_price_end": "2026-01-01T00:00:00Z",
        },
    )
    body = fault(answer, 400, "validation_error")
    assert body["errors"][0]["field"].startswith("special_sale_price_")


@pytest.mark.parametrize("value", [5, [5], {"a": 1}])
def test_invalid_bullets_are_refused(acme, value):
    """Interface 2.4: `description_bullets` is an array of strings."""
    body = {"sku": unique("V"), "title": "x", "retail_price": 1, "description_bullets": value}
    answer = acme.post("variants", body)
    found = fault(answer, 400, "validation_error")
    assert found["errors"][0]["field"].startswith("description_bullets")


@pytest.mark.parametrize(
    "parted", ["{0}|{1}", "{0},{1}", "{0} {1}", "{0}\n{1}", "{0} | {1}", "{0}, {1}", ["{0}", "{1}"]]
)
def test_images_are_separated_in_several_ways(acme, shop, parted):
    """Contract 5: `images` has URLs separated by `|`, `,` or whitespace. Contract 10: it may be an array."""
    urls = ["https://img.example.com/a.jpg", "https://img.example.com/b.jpg"]
    images = [each.format(*urls) for each in parted] if isinstance(parted, list) else parted.format(*urls)
    variant = new_variant(acme, images=images)
    assert _group(shop, variant["id"])["images"] == urls


@pytest.mark.parametrize(
    "images", ["not a url", "ftp://x.example.com/a.jpg", "javascript:alert(1)", ["nope"], [5]]
)
def test_an_image_that_is_no_url_is_refused(acme, images):
    """Contract 5: `images` may have only URLs."""
    answer = acme.post("variants", {"sku": unique("V"), "title": "x", "retail_price": 1, "images": images})
    found = fault(answer, 400, "validation_error")
    assert found["errors"][0]["field"].startswith("images")


def test_options_and_properties_are_kept_and_returned(acme):
    """Contract 10: `options` and `properties` are stored and returned."""
    options = [
        {"type": "color", "value": "red"},
        {"type": "size", "value": "XL"},
        {"type": "width", "value": "D"},
    ]
    properties = [{"name": "Fabric", "value": "Wool"}]
    variant = new_variant(acme, options=options, properties=properties)
    again = well(acme.get(f"/v3/variants/{variant['id']}"))
    assert again["options"] == options
    assert again["properties"] == properties


def test_properties_may_be_named_by_type(acme):
    """Contract 12: a property may be `{"type", "value"}` instead of `{"name", "value"}`."""
    variant = new_variant(acme, properties=[{"type": "Fabric", "value": "Wool"}])
    assert variant["properties"] == [{"name": "Fabric", "value": "Wool"}]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("options", [{"type": "smell", "value": "rose"}]),
        ("options", [{"type": "color"}]),
        ("options", "red"),
        ("options", ["red"]),
        ("options", [{"type": "color", "value": 5}]),
        ("properties", [{"name": "x"}]),
        ("properties", [{"value": "x"}]),
        ("properties", {"a": 1}),
        ("properties", [5]),
    ],
)
def test_wrong_options_and_properties_are_refused(acme, field, value):
    """Contract 10: an option has a value, and its type is color, size or width.

    A property has a name and a value.
    """
    answer = acme.post("variants", {"sku": unique("V"), "title": "x", "retail_price": 1, field: value})
    found = fault(answer, 400, ("validation_error", "missing_parameter"))
    assert found["errors"][0]["field"].startswith(field)


def test_a_misspelled_required_field_is_named(acme):
    """Contract, head: the service neither guesses the meaning of unclear input nor ignores it silently."""
    answer = acme.post("variants", {"sku": unique("V"), "title": "x", "retailprice": 1})
    fault(answer, 400, ("missing_parameter", "validation_error"))
    assert "retail_price" in answer.text, answer


def test_a_suppliers_own_variants_are_an_array_in_pages(acme):
    """Contract 10 and 12: `GET …/variants` is an array, with the next page in the header `Link`."""
    made = {new_variant(acme)["id"] for _ in range(3)}
    answer = acme.get("variants", {"limit": 2})
    assert isinstance(well(answer), list)
    assert len(well(answer)) == 2
    assert answer.next is not None
    assert answer.next.startswith("http")
    seen: list[int] = []
    answer = acme.get("variants", {"limit": 500})
    while True:
        seen += [variant["id"] for variant in well(answer)]
        if not answer.next:
            break
        answer = acme.get(answer.next)
    assert made <= set(seen)
    assert len(seen) == len(set(seen))
    assert seen == sorted(seen)


def test_the_parameter_fields_selects_fields(acme):
    """Contract 10: `fields` has the names of the wanted fields, separated by commas."""
    variant = new_variant(acme)
    assert set(well(acme.get(f"/v3/variants/{variant['id']}", {"fields": "sku,title"}))) <= {
        "id",
        "sku",
        "title",
    }
    listed = well(acme.get("variants", {"fields": "id,sku", "limit": 2}))
    assert all(set(each) == {"id", "sku"} for each in listed)
    assert set(well(acme.get("", {"fields": "name"}))) <= {"id", "name"}


def test_an_unknown_field_is_refused(acme):
    """Contract, head: unclear input gets a clear error that names the field."""
    variant = new_variant(acme)
    answer = acme.get(f"/v3/variants/{variant['id']}", {"fields": "sku,smell"})
    assert "smell" in fault(answer, 400, "validation_error")["message"] + answer.text


def test_a_supplier_reads_itself(acme):
    """Contract 10: a supplier reads its own data at `GET /v3/suppliers/{supplier_id}`."""
    body = well(acme.get())
    assert body["id"] == acme.id
    assert body["name"] == "Acme"


def test_listed_can_be_set_in_a_body(acme, shop):
    """Contract 3: `listed: true` in a body lists a variant. With false, no retailer sees the variant."""
    hidden = new_variant(acme, listed=False)
    assert _group(shop, hidden["id"]) is None
    assert _group(shop, new_variant(acme, listed=True)["id"]) is not None


def test_a_new_variant_is_on_the_suppliers_list(acme):
    """Contract 10: `GET /v3/suppliers/{supplier_id}/variants` lists all variants of the supplier."""
    variant = new_variant(acme)
    assert variant_by_sku(acme, variant["sku"])["id"] == variant["id"]


def _group(shop, number):
    pulled = well(shop.get("variants", {"service_type": "ecommerce"}))
    return next((group for group in pulled if number in group["variants"]), None)

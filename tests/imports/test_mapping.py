"""Files with their own columns, mapped to fields; exports of shop systems are among them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from catalog.models import Variant

# Our own files, in the layouts of the exports of Shopify and WooCommerce.
FILES = Path(__file__).parent / "files"
WOOCOMMERCE_MAPPING = [
    "SKU:sku",
    "Name:title",
    "Regular price:retail_price",
    "Sale price:special_sale_price",
    "Weight (lbs):weight",
    "Meta: _wpcom_is_markdown:property.markdown",
]


def test_a_woocommerce_export_lands_and_its_variable_parent_is_a_reject(acme, upload, ran):
    job = ran(
        acme,
        file_url=upload(acme, (FILES / "woocommerce.csv").read_bytes()),
        field_mapping=WOOCOMMERCE_MAPPING,
    )

    assert [(e["line"], e["field"], e["code"]) for e in job["errors"]] == [(2, "retail_price", "required")]
    assert job["created"] == 2
    blue = Variant.objects.get(sku="desk-lamp-blue")
    assert (blue.title, blue.retail_price, blue.weight) == ("Desk lamp blue", Decimal(45), Decimal("0.8"))
    assert (blue.description, blue.images) == ("Shines.", "https://x.example/3.jpg")
    assert blue.properties == [{"name": "markdown", "value": "1"}]
    assert "Published" in job["ignored_columns"]
    assert "SKU" not in job["ignored_columns"]


def test_a_shopify_export_lands_with_its_follow_up_rows(acme, upload, ran):
    mapping = [
        "Handle:title",
        "Variant SKU:sku",
        "Variant Price:price",
        "Variant Barcode:gtin",
        "Body (HTML):description",
        {"source_field": "Option1 Value", "destination_field": "option", "option_type": "size"},
        {"sourceField": "Variant Grams", "destinationField": "weight", "mathTransformer": "/1000"}
        | {"source_field": "", "math_transformer": None},  # an empty value counts as absent
    ]

    job = ran(acme, file_url=upload(acme, (FILES / "shopify.csv").read_bytes()), field_mapping=mapping)

    assert [(e["line"], e["field"]) for e in job["errors"]] == [(5, "sku")]
    small, medium = Variant.objects.order_by("id")
    assert (small.description, small.weight) == ("<p>Cool, and\nlight.</p>", Decimal("0.2"))
    assert (medium.upc, medium.gtin, medium.options) == (
        "036000291452",
        "036000291452",
        [{"type": "size", "value": "M"}],
    )


def test_schema_objects_transform_texts_and_split_them(acme, ran):
    job = ran(
        acme,
        data=[
            "no;name;cost;pics;colors;points",
            "a-1;red shirt;10;https://x.example/1.jpg,https://x.example/2.jpg;Blue/Green;soft#warm",
        ],
        schema=[
            {"source_field": "no", "destination_field": "sku", "string_transformer": "uppercase"},
            {"source_field": "name", "destination_field": "title", "string_transformer": "capitalize"},
            {"source_field": "name", "destination_field": "model", "string_transformer": "capitalize-first"},
            {"source_field": "cost", "destination_field": "price", "math_transformer": "value * 1.2"},
            {"source_field": "cost", "destination_field": "wholesale_price", "math_transformer": "*1.05"},
            {"source_field": "pics", "destination_field": "images", "split_by_character": ","},
            {"source_field": "colors", "destination_field": "option.color", "split_by_character": "/"},
            {"source_field": "points", "destination_field": "description_bullets", "split_by_character": "#"},
        ],
    )

    assert job["status"] == "succeeded", job
    variant = Variant.objects.get()
    assert (variant.sku, variant.title, variant.model) == ("A-1", "Red Shirt", "Red shirt")
    assert (variant.retail_price, variant.wholesale_price) == (Decimal(12), Decimal("10.5"))
    assert variant.images == "https://x.example/1.jpg|https://x.example/2.jpg"
    assert variant.options == [{"type": "color", "value": "Blue"}, {"type": "color", "value": "Green"}]
    assert variant.description_bullets == ["soft", "warm"]


@pytest.mark.parametrize(
    "cell",
    [
        "https://x.example/1.jpg|https://x.example/2.jpg|",
        "|https://x.example/1.jpg||https://x.example/2.jpg",
        ", https://x.example/1.jpg,, https://x.example/2.jpg, ",
        "https://x.example/1.jpg | https://x.example/2.jpg",
    ],
)
def test_missing_images_leave_no_gap_between_the_other_images(acme, shop, client_for, ran, cell):
    data = ["sku,title,retail_price,images", f'A-1,x,1,"{cell}"']

    first, again = ran(acme, data=data), ran(acme, data=data)

    assert (first["created"], again["unchanged"]) == (1, 1)
    pulled = client_for(shop).get("variants", {"service_type": "ecommerce"})
    [group] = json.loads(b"".join(pulled.streaming_content))
    assert group["images"] == ["https://x.example/1.jpg", "https://x.example/2.jpg"]


def test_prices_are_computed_exactly_and_rounded_half_up(acme, ran):
    job = ran(
        acme,
        data=["sku,title,retail_price,weight", "A-1,Shirt,19.99,2", "A-2,Hat,0.0001,0", "A-3,Cap,1,"],
        math_transformer="wholesale_price = round(retail_price * 0.55, 2); special_sale_price = 10 / weight\n"
        "retail_price = retail_price / 8",
    )

    variant = Variant.objects.get()
    assert (variant.wholesale_price, variant.special_sale_price) == (Decimal("10.99"), Decimal(5))
    assert variant.retail_price == Decimal("2.4988")
    assert [(e["line"], e["field"], e["code"]) for e in job["errors"]] == [
        (3, "special_sale_price", "not_computable"),
        (4, "special_sale_price", "not_computable"),
    ]


def test_a_cell_that_its_transformer_cannot_convert_is_named(acme, ran):
    per = {"source_field": "per", "destination_field": "weight", "math_transformer": "1 / value"}

    job = ran(
        acme, data=["sku,title,retail_price,per", "A-1,x,1,4", "A-2,x,1,0", "A-3,x,1,4 kg"], schema=[per]
    )

    assert Variant.objects.get().weight == Decimal("0.25")
    assert [(e["line"], e["field"], e["code"], e["message"]) for e in job["errors"]] == [
        (
            line,
            "weight",
            "not_computable",
            f"'{cell}': math_transformer cannot compute weight from it.",
        )
        for line, cell in ((3, "0"), (4, "4 kg"))
    ]


def test_the_same_transformed_file_twice_changes_nothing(acme, ran):
    body = {
        "data": ["sku,title,retail_price,tags", "A-1,Shirt,19.99,a#b"],
        "math_transformer": "wholesale_price = retail_price * 0.3333; wholesale_price = wholesale_price / 3",
        "field_mapping": [
            {"source_field": "tags", "destination_field": "property", "split_by_character": "#"}
        ],
    }
    ran(acme, **body)
    before = Variant.objects.values().get()

    job = ran(acme, **body)

    assert job["unchanged"] == 1
    assert Variant.objects.values().get() == before
    assert before["properties"] == [{"name": "tags", "value": "a"}, {"name": "tags", "value": "b"}]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "file_url"),
        ({"file_url": "", "data": []}, "file_url"),
        ({"file_url": "products/x.csv", "data": ["sku"]}, "data"),
        ({"file_url": "products/missing.csv"}, "file_url"),
        ({"file_url": "../2/products/x.csv"}, "file_url"),
        ({"file_url": "http://x.example/x.csv"}, "file_url"),
        ({"file_url": "sftp://elsewhere.example/x.csv"}, "file_url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"data": "sku,title"}, "data"),
        ({"data": ["sku", 5]}, "data[1]"),
        ({"data": ["sku"], "field_mapping": ["sku"]}, "field_mapping[0]"),
        ({"data": ["sku"], "field_mapping": ["A:colour"]}, "field_mapping[0]"),
        ({"data": ["sku"], "field_mapping": ["A:sku", "B:sku"]}, "field_mapping[1]"),
        ({"data": ["sku"], "field_mapping": [5]}, "field_mapping[0]"),
        ({"data": ["sku"], "field_mapping": "A:sku"}, "field_mapping"),
        ({"data": ["sku"], "schema": [{"source_field": "A"}]}, "schema[0].destination_field"),
        (
            {"data": ["sku"], "schema": [{"source_field": "A", "destination_field": "option"}]},
            "schema[0].destination_field",
        ),
        (
            {"data": ["sku"], "schema": [{"source_field": "A", "destination_field": "colour"}]},
            "schema[0].destination_field",
        ),
        (
            {
                "data": ["sku"],
                "field_mapping": ["A:sku", {"source_field": "B", "destination_field": "sku"}],
            },
            "field_mapping[1].destination_field",
        ),
        (
            {"data": ["sku"], "schema": [{"source_field": "A" * 201, "destination_field": "sku"}]},
            "schema[0].source_field",
        ),
        (
            {
                "data": ["sku"],
                "schema": [
                    {"source_field": "A", "destination_field": "title", "string_transformer": "shout"}
                ],
            },
            "schema[0].string_transformer",
        ),
        (
            {
                "data": ["sku"],
                "schema": [{"source_field": "A", "destination_field": "weight", "math_transformer": "2**9"}],
            },
            "schema[0].math_transformer",
        ),
        (
            {
                "data": ["sku"],
                "schema": [
                    {"source_field": "A", "destination_field": "title", "stringTranformer": "uppercase"}
                ],
            },
            "schema[0].stringTranformer",
        ),
        (
            {
                "data": ["sku"],
                "schema": [{"source_field": "A", "sourceField": "B", "destination_field": "title"}],
            },
            "schema[0].sourceField",
        ),
        ({"data": ["sku"], "math_transformer": "weight = 9**9**9"}, "math_transformer"),
        ({"data": ["sku"], "math_transformer": "title = 1"}, "math_transformer"),
        ({"data": ["sku"], "file_type": "xlsx"}, "file_type"),
        ({"data": ["sku"], "dry_run": "yes"}, "dry_run"),
    ],
)
def test_a_request_that_cannot_work_is_refused_and_names_the_field(acme, client_for, body, field):
    answer = client_for(acme).post("importProducts", body)

    assert answer.status_code == 400, answer.json()
    assert field in [error["field"] for error in answer.json()["errors"]], answer.json()


@pytest.mark.parametrize(
    "entry", ["Taste:option", "a:option.taste", {"source_field": "Taste", "destination_field": "option"}]
)
def test_an_unknown_type_of_option_is_named_with_the_known_types(acme, client_for, entry):
    answer = client_for(acme).post("importProducts", {"data": ["a"], "field_mapping": [entry]})

    message = answer.json()["errors"][0]["message"]
    assert (
        message.lower() == "'taste' is no type of option. use one of color, size, width, as in option.color."
    )


def test_an_error_in_an_expression_points_at_its_character(acme, client_for):
    answer = client_for(acme).post(
        "importProducts", {"data": ["sku"], "math_transformer": "weight = weight $ 2"}
    )

    assert "character 17" in answer.json()["message"]


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        (r'"A\ud800:sku"', "field_mapping[0]"),
        (r'"A\u0000:sku"', "field_mapping[0]"),
        (r'"A:property.\udfff"', "field_mapping[0]"),
        (
            r'{"source_field": "A", "destination_field": "images", "split_by_character": "\ud800"}',
            "field_mapping[0].split_by_character",
        ),
    ],
)
def test_an_invalid_character_in_a_mapping_is_refused_too(acme, client_for, entry, field):
    # Send bytes, because the test client could not encode the text.
    body = f'{{"data": ["sku"], "field_mapping": [{entry}]}}'.encode()

    answer = client_for(acme).post("importProducts", body)

    assert (answer.status_code, [e["field"] for e in answer.json()["errors"]]) == (400, [field])


def test_keys_of_other_systems_in_a_mapping_object_are_ignored(acme, ran):
    entry = {"source_field": "no", "destination_field": "sku", "position": 5, "mathTransformer": None}

    job = ran(acme, data=["no,title,retail_price", "A-1,x,1"], schema=[entry])

    assert (job["status"], job["created"]) == ("succeeded", 1)


def test_an_absent_mapped_column_is_reported_with_the_replacing_column(acme, ran):
    job = ran(
        acme,
        data=["sku,title,retail_price", "A-1,Shirt,1"],
        field_mapping=["Name:title", "Text:description"],
    )

    assert job["warnings"] == [
        "The file has no column 'Name', which the mapping names; title is filled from 'title' only.",
        "The file has no column 'Text', which the mapping names; description stays unchanged.",
    ]
    assert Variant.objects.get().title == "Shirt"


def test_options_and_properties_keep_quotes_and_skip_empty_values(acme, ran):
    ran(
        acme,
        field_mapping=['Note:property.a "b" \\c', "Fit:property.fit", "Size:option.size"],
        data=["sku,title,price,Note,Fit,Size", '1,A,10,"5"" \\n é",,L', "2,B,10,,slim,"],
    )
    first, second = Variant.objects.order_by("sku")
    assert first.properties == [{"name": 'a "b" \\c', "value": '5" \\n é'}]
    assert first.options == [{"type": "size", "value": "L"}]
    assert second.properties == [{"name": "fit", "value": "slim"}]
    assert second.options == []


@pytest.mark.parametrize("expression", ["retail_price = \x001", "  retail_price = $"])
def test_a_wrong_character_of_an_expression_is_pointed_at(acme, client_for, expression):
    body = {"data": ["sku", "A"], "math_transformer": expression}
    answer = client_for(acme).post("importProducts", body)

    position = max(expression.find("\x00"), expression.find("$")) + 1
    assert f"(at character {position})" in answer.json()["errors"][0]["message"]


@pytest.mark.parametrize("expression", ["value *\x00 2", "  * $"])
def test_a_wrong_character_of_an_entrys_expression_is_pointed_at(acme, client_for, expression):
    entry = {"source_field": "P", "destination_field": "retail_price", "math_transformer": expression}
    answer = client_for(acme).post("importProducts", {"data": ["sku", "A"], "field_mapping": [entry]})

    position = max(expression.find("\x00"), expression.find("$")) + 1
    assert f"(at character {position})" in answer.json()["errors"][0]["message"]

"""The columns of a product file: mappings, the older field `schema`, and math (contract 6 and 10)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .http_client import digits, fault, unique, well
from .imports import HEADER, counts, imported
from .steps import import_lines, variant_by_sku

# --- mapping -----------------------------------------------------------------------------------------------


def test_a_mapping_renames_columns_at_the_last_colon(acme):
    """Contract 6: each element is `"Column in the file:field"`. The last colon is the separator."""
    sku = unique("P")
    mapping = ["Art. no:sku", "Name: long:title", "Price:retail_price"]
    job = import_lines(acme, "Art. no,Name: long,Price,Remark", f"{sku},Lamp,9.99,x", field_mapping=mapping)
    assert counts(job) == {"created": 1}
    assert job["ignored_columns"] == ["Remark"], "contract 6: the job must name the columns that it ignores"
    assert variant_by_sku(acme, sku)["title"] == "Lamp"


def test_unmapped_columns_with_a_fields_own_name_map_to_themselves(acme):
    """Contract 6: a column without a mapping fills the field with the same name."""
    sku = unique("P")
    job = import_lines(
        acme, "No,title,retail_price,description", f"{sku},Lamp,9.99,Bright", field_mapping=["No:sku"]
    )
    assert counts(job) == {"created": 1}
    assert variant_by_sku(acme, sku)["description"] == "Bright"


def test_a_mapped_column_that_the_file_lacks_is_reported(acme):
    """Contract, head: no input is ignored silently, so the job reports the column."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1", field_mapping=["Nowhere:description"])
    assert job["status"] == "failed" or "Nowhere" in str(job["warnings"]), job


def test_every_product_column_is_imported(acme):
    """Contract 6: the columns of products are the fields of interface 2.3 and four more.

    These are `special_sale_price` with its start and end, and `description_bullets`.
    """
    sku, upc, ean = unique("P"), digits(12), digits(13)
    columns = (
        "sku,model,retail_price,wholesale_price,title,description,description_extra,upc,ean,id_in_source,weight,images,"
        "special_sale_price,special_sale_price_start,special_sale_price_end,description_bullets"
    )
    row = (
        f'{sku},M-1,19.99,10.01,Lamp,"Bright, small",Extra,{upc},{ean},SRC,0.25,https://i.example.com/1.jpg|https://i.example.com/2.jpg,'
        "9.99,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,bright|small"
    )
    job = import_lines(acme, columns, row)
    assert (counts(job), job["warnings"], job["ignored_columns"]) == ({"created": 1}, [], []), job
    made = variant_by_sku(acme, sku)
    assert (made["model"], made["retail_price"], made["wholesale_price"]) == (
        "M-1",
        Decimal("19.99"),
        Decimal("10.01"),
    )
    assert (made["description"], made["upc"], made["ean"], made["weight"]) == (
        "Bright, small",
        upc,
        ean,
        Decimal("0.25"),
    )
    assert (made["special_sale_price"], made["special_sale_price_start"]) == (
        Decimal("9.99"),
        "2026-01-01T00:00:00.000000Z",
    )
    assert made["description_bullets"] == ["bright", "small"]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("retail_price", "-1"),
        ("retail_price", "NaN"),
        ("retail_price", "1e400"),
        ("retail_price", "1.00001"),
        ("upc", "123"),
        ("upc", "036000291453"),
        ("ean", "x"),
        ("weight", "heavy"),
        ("special_sale_price_start", "soon"),
        ("retail_price", "٣"),
        ("title", "x" * 100_000),
        ("sku", "y" * 100_000),
    ],
    ids=lambda value: value[:20],
)
def test_a_cell_that_is_wrong_rejects_its_row_and_names_the_field(acme, column, cell):
    """Contract 5 and 6: cells have the same rules as the fields of a variant's body."""
    row = {"sku": unique("P"), "title": "x", "retail_price": "1"} | {column: cell}
    job = import_lines(
        acme, ",".join(row), ",".join(row.values()), f"{unique('P')}" + ",x,1" + "," * (len(row) - 3)
    )
    assert counts(job) == {"created": 1, "rejected": 1}, job
    assert (job["errors"][0]["line"], job["errors"][0]["field"]) == (2, column)


def test_a_row_with_a_wrong_picture_is_imported_without_the_picture(acme):
    sku = unique("P")
    job = import_lines(acme, "sku,title,retail_price,images", f"{sku},x,1,nope")
    assert counts(job) == {"created": 1}, job
    assert job["warnings"]
    assert variant_by_sku(acme, sku)["images"] == []


def test_the_older_schema_of_objects_is_accepted(acme):
    """Contract 10: `schema` has objects with `source_field`, `destination_field` and transformers.

    `price` is a name of `retail_price`, and `gtin` is accepted too.
    """
    sku, code = unique("P"), digits(13)
    schema = [
        {"source_field": "No", "destination_field": "sku", "string_transformer": "uppercase"},
        {"source_field": "Name", "destination_field": "title", "string_transformer": "capitalize"},
        {
            "source_field": "Text",
            "destination_field": "description",
            "string_transformer": "capitalize-first",
        },
        {"source_field": "Cost", "destination_field": "price", "math_transformer": "*1.2"},
        {"source_field": "Cost2", "destination_field": "wholesale_price", "math_transformer": "value * 0.5"},
        {"source_field": "Code", "destination_field": "gtin"},
        {"source_field": "Pics", "destination_field": "images", "split_by_character": ";"},
    ]
    row = f"{sku.lower()},small bright lamp,two words,10,3,{code},https://i.example.com/1.jpg;https://i.example.com/2.jpg"
    job = import_lines(acme, "No,Name,Text,Cost,Cost2,Code,Pics", row, schema=schema)
    assert counts(job) == {"created": 1}, job
    made = variant_by_sku(acme, sku)
    assert (made["title"], made["description"]) == ("Small Bright Lamp", "Two words")
    assert (made["retail_price"], made["wholesale_price"], made["ean"]) == (12, Decimal("1.5"), code)
    assert "https://i.example.com/2.jpg" in str(made["images"])


def test_the_objects_may_be_in_field_mapping_and_in_camel_case(acme):
    """Contract 10: `field_mapping` accepts strings and the objects of the older schema.

    The keys of these objects may be written in camelCase.
    """
    sku = unique("P")
    mapping = [
        "No:sku",
        {"sourceField": "Name", "destinationField": "title", "stringTransformer": "lowercase"},
    ]
    job = import_lines(acme, "No,Name,retail_price", f"{sku},LAMP,1", field_mapping=mapping)
    assert counts(job) == {"created": 1}, job
    assert variant_by_sku(acme, sku)["title"] == "lamp"


def test_the_older_body_with_url_and_file_type_is_accepted(acme, area):
    """Contract 10: the older body is `{"url", "file_type": "csv", "schema": […]}`."""
    sku = unique("P")
    area.put(f"products/{sku}.csv", f"No,title,price\n{sku},x,5\n".encode())
    body = {
        "url": f"products/{sku}.csv",
        "file_type": "csv",
        "schema": [
            {"source_field": "No", "destination_field": "sku"},
            {"source_field": "price", "destination_field": "price"},
        ],
    }
    assert counts(imported(acme, well(acme.post("importProducts", body), 201))) == {"created": 1}
    body = {
        "url": f"products/{sku}.csv",
        "fileType": "csv",
        "schema": [
            {"sourceField": "No", "destinationField": "sku"},
            {"sourceField": "price", "destinationField": "retail_price"},
        ],
    }
    assert counts(imported(acme, well(acme.post("importProducts", body), 201))) == {"unchanged": 1}


def test_options_and_properties_come_from_columns(acme):
    """Contract 10 and 12: a column can fill an option or a property, as in `"Colour:option.color"`.

    Without a type in the mapping, the name of the column is the type.
    """
    sku = unique("P")
    mapping = [
        "Colour:option.color",
        "Fabric:property.fabric",
        {"source_field": "Size", "destination_field": "option"},
        {"source_field": "W", "destination_field": "option", "option_type": "width"},
    ]
    job = import_lines(
        acme, f"{HEADER},Colour,Fabric,Size,W", f"{sku},x,1,red,wool,XL,D", field_mapping=mapping
    )
    assert counts(job) == {"created": 1}, job
    made = variant_by_sku(acme, sku)
    assert {(each["type"], each["value"]) for each in made["options"]} == {
        ("color", "red"),
        ("size", "XL"),
        ("width", "D"),
    }
    assert [(each["name"].lower(), each["value"]) for each in made["properties"]] == [("fabric", "wool")]


# --- math --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "price"),
    [
        ("wholesale_price = round(retail_price * 0.55, 2)", "10.99"),
        ("wholesale_price = retail_price / 3", "6.6633"),
        ("wholesale_price = floor(retail_price)", "19"),
        ("wholesale_price = ceil(retail_price)", "20"),
        ("wholesale_price = min(retail_price, 5) + max(1, 2)", "7"),
        ("wholesale_price = abs(0 - retail_price)", "19.99"),
        ("wholesale_price = (retail_price - 10) * 2", "19.98"),
        ("wholesale_price = 0.1 + 0.2", "0.3"),
        ("retail_price = 10; wholesale_price = 4.5", "4.5"),
        ("retail_price = 10\nwholesale_price = 4.5", "4.5"),
        ("wholesale_price = -1 * -2", "2"),
    ],
)
def test_math_is_computed_in_exact_decimals(acme, formula, price):
    """Contract 6: formulas have `+ - * / ( )` and `round min max floor ceil abs`, with exact decimals.

    Contract 12: results are rounded half up to the decimals of the field.
    """
    sku = unique("P")
    job = import_lines(acme, HEADER, f"{sku},x,19.99", math_transformer=formula)
    assert counts(job) == {"created": 1}, job
    assert variant_by_sku(acme, sku)["wholesale_price"] == Decimal(price)


@pytest.mark.parametrize(
    "formula",
    [
        "wholesale_price = retail_price ** 2",
        "wholesale_price = __import__('os')",
        "wholesale_price = retail_price.real",
        "x = 1",
        "wholesale_price = ",
        "wholesale_price",
        "title = 5",
        "wholesale_price = eval(1)",
        "wholesale_price = (1",
        "wholesale_price = 1 1",
        "wholesale_price = smell * 2",
        "wholesale_price = 'a'",
        "wholesale_price = round()",
        "wholesale_price = [1]",
        "wholesale_price = " + "(" * 5000 + "1" + ")" * 5000,
        "wholesale_price = 1 if 1 else 2",
        "wholesale_price == 1",
        "wholesale_price = 9" + "*9" * 20_000,
    ],
    ids=lambda formula: formula[:40],
)
def test_invalid_math_points_at_the_character(acme, formula):
    """Contract 6: any other formula is a validation error that gives the position of the wrong character."""
    answer = acme.post("importProducts", {"data": [HEADER], "math_transformer": formula})
    body = fault(answer, 400, "validation_error", "math_transformer")
    assert any(letter.isdigit() for letter in body["errors"][0]["message"]), body


def test_a_row_that_cannot_be_computed_is_rejected(acme):
    """Contract 6: a row for which the formula has no result is rejected."""
    formula = "wholesale_price = 10 / weight"
    job = import_lines(
        acme,
        f"{HEADER},weight",
        f"{unique('P')},x,1,0",
        f"{unique('P')},x,1,",
        f"{unique('P')},x,1,2",
        math_transformer=formula,
    )
    assert counts(job) == {"created": 1, "rejected": 2}, job
    assert [error["line"] for error in job["errors"]] == [2, 3]


def test_a_negative_result_rejects_its_row(acme):
    """Contract 2: a negative price is a validation error."""
    job = import_lines(
        acme, HEADER, f"{unique('P')},x,1", math_transformer="wholesale_price = 0 - retail_price"
    )
    assert (counts(job), job["errors"][0]["field"]) == ({"rejected": 1}, "wholesale_price")

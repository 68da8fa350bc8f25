"""Importing products from lines and files (interface endpoint 9; contract 6, 10, 12)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .story import TIME, finished, import_lines, new_variant, variant_by_sku
from .wire import digits, fault, unique, well

HEADER = "sku,title,retail_price"
JOB = {
    "id",
    "kind",
    "status",
    "source",
    "rows_total",
    "rows_done",
    "created",
    "updated",
    "unchanged",
    "rejected",
    "errors",
    "errors_url",
    "created_at",
    "started_at",
    "finished_at",
    "duplicates",
    "warnings",
    "ignored_columns",
}


def counts(job):
    return {
        name: job[name] for name in ("created", "updated", "unchanged", "rejected", "duplicates") if job[name]
    }


def imported(supplier, job):
    """An awaited job whose sums are right."""
    job = finished(supplier, job)
    if job["status"].startswith("succeeded"):
        parts = ("created", "updated", "unchanged", "rejected", "duplicates")
        assert sum(job[part] for part in parts) == job["rows_total"], job
    return job


def from_file(supplier, area, content, name=None, **fields):
    """Upload a file and import it."""
    path = f"products/{name or unique('f')}.csv"
    area.put(path, content)
    return imported(supplier, well(supplier.post("importProducts", {"file_url": path} | fields), 201))


# --- the job -----------------------------------------------------------------------------------------------


def test_the_answer_is_the_job(acme):
    """Contract 6: `importProducts` (201) answers the job; 12: `success` and `message` beside it."""
    answer = acme.post("importProducts", {"data": [HEADER, f"{unique('P')},x,1"]})
    job = well(answer, 201)
    assert set(job) >= JOB, JOB - set(job)
    assert job["status"] in ("queued", "running", "succeeded")
    assert job["success"] is True
    assert job["message"]
    assert TIME.match(job["created_at"])
    job = imported(acme, job)
    assert job["status"] == "succeeded"
    assert counts(job) == {"created": 1}
    assert (job["rows_total"], job["rows_done"], job["errors"]) == (1, 1, [])
    assert TIME.match(job["started_at"])
    assert TIME.match(job["finished_at"])


def test_the_jobs_are_listed(acme):
    """Contract 6: `GET …/imports` lists, `GET …/imports/{id}` reads."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1")
    body = well(acme.get("imports", {"limit": 500}))
    jobs = body["results"] if isinstance(body, dict) else body
    assert job["id"] in [each["id"] for each in jobs]


def test_good_rows_land_and_bad_rows_are_reported_with_their_line(acme):
    """Contract 6: good rows land; bad rows are reported, each with its line; 12: `{"line", "field",
    "code", "message"}`.
    """
    good = unique("P")
    job = import_lines(acme, HEADER, f"{good},x,1", f"{unique('P')},x,dear", f"{unique('P')},,1", ",x,1")
    assert job["status"] == "succeeded_with_errors"
    assert counts(job) == {"created": 1, "rejected": 3}
    assert [error["line"] for error in job["errors"]] == [3, 4, 5]
    assert [error["field"] for error in job["errors"]] == ["retail_price", "title", "sku"]
    assert all(error["code"] and error["message"] for error in job["errors"])
    assert variant_by_sku(acme, good)["retail_price"] == 1


def test_the_same_file_twice_changes_nothing(acme):
    """Contract 6: the same file twice changes nothing the second time."""
    lines = [HEADER, f"{unique('P')},x,1", f"{unique('P')},y,2.50"]
    assert counts(import_lines(acme, *lines)) == {"created": 2}
    assert counts(import_lines(acme, *lines)) == {"unchanged": 2}


def test_a_changed_row_updates_its_variant(acme):
    """Contract 6: updated."""
    variant = new_variant(acme, title="old")
    job = import_lines(acme, HEADER, f"{variant['sku']},new,{variant['retail_price']}")
    assert counts(job) == {"updated": 1}
    after = well(acme.get(f"/v3/variants/{variant['id']}"))
    assert (after["title"], after["retail_price"]) == ("new", variant["retail_price"])


def test_an_absent_column_leaves_its_field_alone_and_an_empty_cell_clears_it(acme):
    """Contract 6: a column that is absent leaves its field alone; an empty cell clears an optional field,
    rejects for a mandatory one.
    """
    variant = new_variant(acme, description="kept", id_in_source="SRC", wholesale_price=5)
    import_lines(acme, "sku,id_in_source,wholesale_price", f"{variant['sku']},,")
    after = well(acme.get(f"/v3/variants/{variant['id']}"))
    assert after["description"] == "kept"
    assert not after["id_in_source"]
    assert after["wholesale_price"] is None
    job = import_lines(acme, "sku,title", f"{variant['sku']},")
    assert (counts(job), job["errors"][0]["field"]) == ({"rejected": 1}, "title")
    assert well(acme.get(f"/v3/variants/{variant['id']}"))["title"] == "A lamp"


def test_a_key_that_comes_again_the_last_record_wins(acme):
    """Contract 12: the last record wins, the earlier ones count as `duplicates`."""
    sku = unique("P")
    job = import_lines(acme, HEADER, f"{sku},first,1", f"{sku},second,2", f"{sku},third,3")
    assert counts(job) == {"created": 1, "duplicates": 2}
    assert variant_by_sku(acme, sku)["title"] == "third"


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (["sku,sku,title,retail_price", "a,b,c,1"], "the same header twice"),
        (["1,2,3", "4,5,6"], "no header at all"),
        ([""], "nothing"),
        (['sku,title,"retail_price'], "an open quote"),
    ],
)
def test_a_file_that_cannot_be_read_fails_its_job(acme, lines, what):
    """Contract 12: the same header twice, no header at all, an unreadable file: `failed` with `error:
    {code, message}`.
    """
    answer = acme.post("importProducts", {"data": lines})
    if answer.status == 400:
        fault(answer, 400, ("validation_error", "missing_parameter"))
        return
    job = finished(acme, well(answer, 201))
    assert job["status"] == "failed", (what, job)
    assert job["error"]["code"]
    assert job["error"]["message"]


def test_a_header_without_rows_is_no_failure(acme):
    """Contract 6: every job ends."""
    job = import_lines(acme, HEADER)
    assert (job["status"], job["rows_total"]) == ("succeeded", 0)


def test_only_the_first_twenty_errors_are_in_the_job_and_all_in_the_csv(acme):
    """Contract 6: `errors` (the first 20), `errors_url`; the rejects as CSV: `line, field, code, message`,
    the file's own.
    """
    job = import_lines(acme, HEADER, *[f"{unique('P')},=cmd()|x,{price}" for price in ["bad"] * 25])
    assert len(job["errors"]) == 20
    assert job["rejected"] == 25
    answer = acme.get(job["errors_url"], Accept="text/csv")
    assert answer.status == 200, answer
    assert answer.headers.get_content_type() == "text/csv"
    rows = answer.raw.decode("utf-8-sig").splitlines()
    assert rows[0].replace(", ", ",") == "line,field,code,message,sku,title,retail_price"
    assert len(rows) == 26
    assert rows[1].startswith("2,retail_price,")
    assert ",=cmd" not in answer.text, "contract 6: formula characters made harmless"
    assert "cmd()|x" in answer.text
    assert acme.get(f"imports/{job['id']}/errors").text == answer.text


def test_jobs_of_a_kind_run_in_order(acme):
    """Contract 6: one supplier's jobs of a kind run in order."""
    sku = unique("P")
    jobs = [
        well(acme.post("importProducts", {"data": [HEADER, f"{sku},title {at},1"]}), 201) for at in range(4)
    ]
    ended = [imported(acme, job) for job in jobs]
    assert variant_by_sku(acme, sku)["title"] == "title 3"
    assert [job["started_at"] for job in ended] == sorted(job["started_at"] for job in ended)


def test_a_job_that_ended_cannot_be_cancelled_and_one_may_try(acme):
    """Contract 6: `POST …/imports/{id}/cancel` stops it."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1")
    answer = acme.post(f"imports/{job['id']}/cancel")
    assert answer.status in (200, 409), answer
    if answer.status == 409:
        fault(answer, 409, "invalid_transition")
    assert well(acme.get(f"imports/{job['id']}"))["status"] == "succeeded"


def test_a_dry_run_changes_nothing(acme):
    """Contract 12 names a dry run; contract, head: it is done, or it is refused, but not silently landed."""
    sku = unique("P")
    answer = acme.post("importProducts", {"data": [HEADER, f"{sku},x,1"], "dry_run": True})
    if answer.status == 201:
        job = finished(acme, answer.json)
        assert job["status"] in ("succeeded", "awaiting_approval"), job
        assert job["status"] == "awaiting_approval" or variant_by_sku(acme, sku) is None or job["warnings"]
    else:
        fault(answer, 400, "validation_error", "dry_run")


@pytest.mark.parametrize("name", ["field_maping", "math_tranformer"])
def test_a_misspelt_optional_field_is_told(acme, name):
    """Contract, head: never dropped silently."""
    answer = acme.post("importProducts", {"data": [HEADER, f"{unique('P')},x,1"], name: ["A:title"]})
    if answer.status == 201:
        assert name in str(finished(acme, answer.json)["warnings"]), answer
    else:
        fault(answer, 400, "validation_error")


def test_a_waiting_job_is_cancelled(acme):
    """Contract 6: states: `canceled`; a cancelled job does nothing more."""
    lines = [HEADER, *[f"{unique('P')},x,1" for _ in range(300)]]
    jobs = [well(acme.post("importProducts", {"data": lines}), 201) for _ in range(3)]
    answer = acme.post(f"imports/{jobs[-1]['id']}/cancel")
    ended = finished(acme, jobs[-1])
    if answer.status == 200:
        assert ended["status"] == "canceled"
        assert acme.post(f"imports/{jobs[-1]['id']}/cancel").status == 200
    else:
        fault(answer, 409, "invalid_transition")
        assert ended["status"] == "succeeded"
    for job in jobs:
        finished(acme, job)


def test_approve_is_only_for_a_waiting_job(acme):
    """Contract 12: `POST …/imports/{id}/approve` releases one that waits."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1")
    fault(acme.post(f"imports/{job['id']}/approve"), 409, "invalid_transition")


# --- the request -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [{}, {"data": [], "file_url": ""}, {"field_mapping": ["A:sku"]}, {"data": None}],
    ids=str,
)
def test_exactly_one_source(acme, body):
    """Contract 6: exactly one of the two; 12: of `file_url` and `data` the empty one counts as not given."""
    fault(acme.post("importProducts", body), 400, ("missing_parameter", "validation_error"))


def test_both_sources_are_one_too_many(acme):
    """Contract 6: exactly one of the two."""
    fault(
        acme.post("importProducts", {"data": [HEADER], "file_url": "products/a.csv"}), 400, "validation_error"
    )


def test_the_interfaces_whole_body_with_the_unused_parts_empty(acme):
    """Interface 9: `file_url`, `data`, `field_mapping`, `math_transformer`; contract 12: the empty one
    counts as not given.
    """
    body = {
        "file_url": "",
        "data": [HEADER, f"{unique('P')},x,1"],
        "field_mapping": [],
        "math_transformer": "",
    }
    assert counts(imported(acme, well(acme.post("importProducts", body), 201))) == {"created": 1}


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a.csv",
        "https://127.0.0.1/a.csv",
        "file:///etc/passwd",
        "/etc/passwd",
        "products/../../etc/passwd",
        "../a.csv",
        "products/nothing-here.csv",
        "sftp://127.0.0.1:1/a.csv",
        "sftp://evil.example.com/a.csv",
        "ftp://x/a.csv",
        "products/",
        "products",
        "products/a\u0000.csv",
        "//etc/passwd",
        "sftp://",
        "a:b",
        "products/" + "x" * 3000,
        "sftp://user:password@127.0.0.1/products/a.csv",
        "\\\\host\\share",
        "templates/../products/x.csv",
    ],
)
def test_a_place_that_is_not_the_suppliers_own_area_is_refused_at_once(acme, url):
    """Contract 6: everything else is a validation error: nothing is fetched; 12: not in the own area: 400
    at once.
    """
    fault(acme.post("importProducts", {"file_url": url}), 400, "validation_error", "file_url")
    body = {"url": url, "warehouse_id": acme.warehouses[0]}
    fault(acme.post("importInventory", body), 400, "validation_error", "url")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("file_url", 5),
        ("file_url", []),
        ("data", "sku"),
        ("data", [5]),
        ("data", [[HEADER]]),
        ("data", {"a": 1}),
        ("field_mapping", "a:b"),
        ("field_mapping", [5]),
        ("field_mapping", ["no colon"]),
        ("field_mapping", ["A:colour"]),
        ("field_mapping", [":sku"]),
        ("field_mapping", ["A:"]),
        ("field_mapping", [{"source_field": "A"}]),
        ("field_mapping", [{"destination_field": "sku"}]),
        ("field_mapping", [{"source_field": "A", "destination_field": "smell"}]),
        ("field_mapping", ["A:sku", "B:sku"]),
        ("math_transformer", 5),
        ("math_transformer", []),
        ("math_transformer", "nonsense"),
        ("schema", "x"),
        ("schema", [5]),
        ("file_type", "xlsx"),
        ("file_type", 5),
    ],
    ids=str,
)
def test_a_field_of_the_import_that_is_wrong(acme, field, value):
    """Contract 2 and 6: 400 that names the field."""
    body = ({} if field in ("file_url", "data") else {"data": [HEADER, f"{unique('P')},x,1"]}) | {
        field: value
    }
    found = fault(acme.post("importProducts", body), 400, ("validation_error", "missing_parameter"))
    assert any(error["field"].startswith(field) for error in found["errors"]), found


# --- mapping -----------------------------------------------------------------------------------------------


def test_a_mapping_renames_columns_and_the_last_colon_parts_them(acme):
    """Contract 6: `"Column in the file:field"` each; the last colon parts them."""
    sku = unique("P")
    mapping = ["Art. no:sku", "Name: long:title", "Price:retail_price"]
    job = import_lines(acme, "Art. no,Name: long,Price,Remark", f"{sku},Lamp,9.99,x", field_mapping=mapping)
    assert counts(job) == {"created": 1}
    assert job["ignored_columns"] == ["Remark"], "contract 6: the rest are ignored and named in the job"
    assert variant_by_sku(acme, sku)["title"] == "Lamp"


def test_unmapped_columns_with_a_fields_own_name_map_to_themselves(acme):
    """Contract 6: unmapped columns with a field's own name map to themselves."""
    sku = unique("P")
    job = import_lines(
        acme, "No,title,retail_price,description", f"{sku},Lamp,9.99,Bright", field_mapping=["No:sku"]
    )
    assert counts(job) == {"created": 1}
    assert variant_by_sku(acme, sku)["description"] == "Bright"


def test_a_mapped_column_that_the_file_lacks(acme):
    """Contract, head: never dropped silently: the job or the row says so."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1", field_mapping=["Nowhere:description"])
    assert job["status"] == "failed" or "Nowhere" in str(job["warnings"]), job


def test_every_product_column_is_imported(acme):
    """Contract 6: product columns: those of 2.3, then `special_sale_price`, its start and end,
    `description_bullets`.
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
        ("images", "nope"),
        ("special_sale_price_start", "soon"),
        ("retail_price", "٣"),
        ("title", "x" * 100_000),
        ("sku", "y" * 100_000),
    ],
    ids=lambda value: value[:20],
)
def test_a_cell_that_is_wrong_rejects_its_row_and_names_the_field(acme, column, cell):
    """Contract 6 and 5: the same rules as for a variant's body."""
    row = {"sku": unique("P"), "title": "x", "retail_price": "1"} | {column: cell}
    job = import_lines(
        acme, ",".join(row), ",".join(row.values()), f"{unique('P')}" + ",x,1" + "," * (len(row) - 3)
    )
    assert counts(job) == {"created": 1, "rejected": 1}, job
    assert (job["errors"][0]["line"], job["errors"][0]["field"]) == (2, column)


def test_the_older_schema_of_objects(acme):
    """Contract 10: `schema` with `source_field`, `destination_field`, transformers; `price` =
    retail_price, `gtin`.
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
    """Contract 10: the same objects in `field_mapping` beside the strings; camelCase spellings of these
    keys too.
    """
    sku = unique("P")
    mapping = [
        "No:sku",
        {"sourceField": "Name", "destinationField": "title", "stringTransformer": "lowercase"},
    ]
    job = import_lines(acme, "No,Name,retail_price", f"{sku},LAMP,1", field_mapping=mapping)
    assert counts(job) == {"created": 1}, job
    assert variant_by_sku(acme, sku)["title"] == "lamp"


def test_the_older_body_with_url_and_file_type(acme, area):
    """Contract 10: `{"url", "file_type": "csv", "schema": […]}`."""
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
    """Contract 10 and 12: `option`, `property`; `"Colour:option.color"`, `"Fabric:property.fabric"`; by
    the column's name.
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
def test_math_in_exact_decimals(acme, formula, price):
    """Contract 6: `+ - * / ( )`, `round min max floor ceil abs`, exact decimals; 12: rounded half up to
    the scale.
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
def test_math_that_is_none_points_at_the_character(acme, formula):
    """Contract 6: anything else is a validation error that points at the character."""
    answer = acme.post("importProducts", {"data": [HEADER], "math_transformer": formula})
    body = fault(answer, 400, "validation_error", "math_transformer")
    assert any(letter.isdigit() for letter in body["errors"][0]["message"]), body


def test_a_row_that_cannot_be_computed_is_rejected(acme):
    """Contract 6: a row it cannot be computed for is rejected."""
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
    """Contract 2: negative prices are validation errors."""
    job = import_lines(
        acme, HEADER, f"{unique('P')},x,1", math_transformer="wholesale_price = 0 - retail_price"
    )
    assert (counts(job), job["errors"][0]["field"]) == ({"rejected": 1}, "wholesale_price")


# --- odd files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "utf-16-be-bom", "cp1252"]
)
@pytest.mark.parametrize("parted", [",", ";", "\t", "|"])
def test_encodings_and_delimiters(acme, area, encoding, parted):
    """Contract 6: UTF-8 (with or without BOM), UTF-16 or Windows-1252; comma, semicolon, tab or pipe."""
    sku = unique("P")
    title = "Lämpchen größer € 5" if encoding == "cp1252" else "Lämpchen größer 光"
    text = f"sku,title,retail_price\r\n{sku},{title},19.99\r\n".replace(",", parted)
    content = {
        "utf-16-le-bom": lambda: b"\xff\xfe" + text.encode("utf-16-le"),
        "utf-16-be-bom": lambda: b"\xfe\xff" + text.encode("utf-16-be"),
    }.get(encoding, lambda: text.encode(encoding))()
    job = from_file(acme, area, content)
    assert counts(job) == {"created": 1}, job
    made = variant_by_sku(acme, sku)
    assert (made["title"], made["retail_price"]) == (title, Decimal("19.99"))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_endings(acme, area, ending, last):
    """Contract 6: CRLF or LF — and a file without a last newline."""
    text = f"{HEADER}\n{unique('P')},x,1\n{unique('P')},y,2" + ("\n" if last else "")
    assert counts(from_file(acme, area, text.replace("\n", ending).encode())) == {"created": 2}


def test_quoted_newlines_and_physical_lines(acme, area):
    """Contract 6: quoted newlines; 12: `line` is the physical line on which a record starts, the header
    being 1.
    """
    one = unique("P")
    text = f'{HEADER}\n{one},"two\nlines, and ""quotes""",1\n{unique("P")},x,bad\n\n{unique("P")},x,worse\n'
    job = from_file(acme, area, text.encode())
    assert counts(job) == {"created": 1, "rejected": 2}, job
    assert [error["line"] for error in job["errors"]] == [4, 6]
    assert variant_by_sku(acme, one)["title"] == 'two\nlines, and "quotes"'


def test_ragged_rows_are_rejects_not_failures(acme):
    """Contract 6: ragged rows are rejects, not failures."""
    job = import_lines(acme, HEADER, f"{unique('P')},x", f"{unique('P')},x,1,2,3", f"{unique('P')},x,1")
    assert job["status"] == "succeeded_with_errors"
    assert counts(job) == {"created": 1, "rejected": 2}
    assert [error["line"] for error in job["errors"]] == [2, 3]


def test_an_undecodable_row_is_a_reject(acme, area):
    """Contract 6: undecodable rows are rejects, not failures."""
    good = unique("P")
    content = (
        b"\xef\xbb\xbf"
        + f"{HEADER}\n{good},ü,1\n".encode()
        + f"{unique('P')},".encode()
        + b"\xff\xfe\xfa,1\n"
    )
    job = from_file(acme, area, content)
    assert counts(job) == {"created": 1, "rejected": 1}, job
    assert job["errors"][0]["line"] == 3


def test_an_over_long_row_is_a_reject(acme, area):
    """Contract 6: over-long rows are rejects, not failures."""
    content = f"{HEADER}\n{unique('P')},{'x' * 3_000_000},1\n{unique('P')},x,1\n".encode()
    job = from_file(acme, area, content)
    assert counts(job) == {"created": 1, "rejected": 1}, job
    assert job["errors"][0]["line"] == 2


def test_a_nul_in_a_cell_is_a_reject(acme, area):
    """Contract 6: bad rows are reported."""
    job = from_file(acme, area, f"{HEADER}\n{unique('P')},a\0b,1\n{unique('P')},x,1\n".encode())
    assert counts(job) == {"created": 1, "rejected": 1}, job


def test_the_templates_own_lines_are_skipped_with_a_warning(acme):
    """Contract 6: if the template's lines 2 and 3 were left in, they are recognised and skipped with a
    warning.
    """
    lines = acme.get("templates/products.csv").raw.decode("utf-8-sig").splitlines()
    assert len(lines) == 3
    width = len(lines[0].split(","))
    columns = lines[0].split(",")
    cells = {"sku": unique("P"), "title": "x", "retail_price": "1"}
    row = ",".join(cells.get(column, "") for column in columns)
    job = import_lines(acme, *lines, row)
    assert counts(job) == {"created": 1}, (job, width)
    assert job["warnings"]


@pytest.mark.parametrize(
    ("parted", "cells", "prices"),
    [
        (",", ["1.234"], ["1.234"]),
        (",", ['"1,234"'], [None]),
        (";", ["1,50"], ["1.5"]),
        (";", ["1,234"], [None]),
        (";", ["1.234"], [None]),
        (";", ["1.234", "1.5"], ["1.234", "1.5"]),
        (";", ["1,234", "1,5"], ["1.234", "1.5"]),
        (";", ["1.234,56"], ["1234.56"]),
        (",", ['"1,234.56"'], ["1234.56"]),
        (";", ["19.99"], ["19.99"]),
    ],
    ids=str,
)
def test_decimal_points_and_commas(acme, area, parted, cells, prices):
    """Contract 6: a decimal point is a decimal point, except in files parted by semicolons …; never
    guessed.
    """
    skus = [unique("P") for _ in cells]
    text = "\n".join(
        [
            HEADER.replace(",", parted),
            *[parted.join([sku, "x", cell]) for sku, cell in zip(skus, cells, strict=True)],
        ]
    )
    from_file(acme, area, text.encode())
    for sku, price in zip(skus, prices, strict=True):
        made = variant_by_sku(acme, sku)
        assert (made and made["retail_price"]) == (price and Decimal(price))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbf",
        b"\n\n\n",
        b"\x89PNG\r\n\x1a\n\0\0\0",
        b"PK\x03\x04" + b"\0" * 500,
        bytes(range(256)) * 40,
    ],
)
def test_a_file_that_is_no_csv_fails_its_job(acme, area, content):
    """Contract 12: an unreadable file: the job is `failed` with `error: {code, message}`."""
    job = from_file(acme, area, content)
    assert job["status"] == "failed", job
    assert set(job["error"]) >= {"code", "message"}


@pytest.mark.parametrize("form", ["{}", "/{}", "sftp://127.0.0.1:{port}/{}", "sftp://127.0.0.1:{port}//{}"])
def test_the_ways_to_name_a_file(acme, demo, area, form):
    """Contract 6: `sftp://<service>/<path>` or a bare path; 12: paths may begin with `/`."""
    sku = unique("P")
    area.put(f"products/{sku}.csv", f"{HEADER}\n{sku},x,1\n".encode())
    url = form.format(f"products/{sku}.csv", port=demo["sftp"]["port"])
    if form.endswith("//{}"):
        assert acme.post("importProducts", {"file_url": url}).status in (201, 400)
        return
    assert counts(imported(acme, well(acme.post("importProducts", {"file_url": url}), 201))) == {"created": 1}


def test_another_suppliers_file_is_not_there(acme, rivals_area):
    """Contract 6: another party's area is a validation error."""
    name = f"products/{unique('F')}.csv"
    rivals_area.put(name, b"sku,title,retail_price\nx,y,1\n")
    fault(acme.post("importProducts", {"file_url": name}), 400, "validation_error", "file_url")


def test_a_job_reads_the_version_that_it_was_started_with(acme, area):
    """Contract 12: later `put`, `rename` or `rm` of that name do not touch it."""
    first, second = unique("P"), unique("P")
    name = f"products/{unique('F')}.csv"
    area.put(name, f"{HEADER}\n{first},x,1\n".encode())
    job = well(acme.post("importProducts", {"file_url": name}), 201)
    area.put(name, f"{HEADER}\n{second},x,1\n".encode())
    area.sftp.remove(name)
    assert counts(imported(acme, job)) == {"created": 1}
    assert variant_by_sku(acme, first)
    assert variant_by_sku(acme, second) is None


def test_the_template_is_what_an_import_expects(acme):
    """Contract 6: line 1 the columns, line 2 mandatory or optional, line 3 an example."""
    lines = acme.get("templates/products.csv").raw.decode("utf-8-sig").splitlines()
    assert lines[0].split(",") == [
        "sku",
        "model",
        "retail_price",
        "wholesale_price",
        "title",
        "description",
        "description_extra",
        "upc",
        "ean",
        "id_in_source",
        "weight",
        "images",
        "special_sale_price",
        "special_sale_price_start",
        "special_sale_price_end",
        "description_bullets",
    ]
    assert set(lines[1].lower().split(",")) == {"mandatory", "optional"}
    assert lines[1].lower().split(",")[0] == "mandatory"

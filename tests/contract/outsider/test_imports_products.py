"""The import of products: its jobs, and the requests that start them (interface 9; contract 6 and 12)."""

from __future__ import annotations

import pytest

from .http_client import fault, unique, well
from .imports import HEADER, counts, imported
from .steps import TIME, finished, import_lines, new_variant, variant_by_sku

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


# --- the job -----------------------------------------------------------------------------------------------


def test_the_answer_is_the_job(acme):
    """Contract 6: `importProducts` answers 201 with the job. Contract 12: it has `success` and `message`."""
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
    """Contract 6: `GET …/imports` lists the jobs, and `GET …/imports/{id}` reads one."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1")
    body = well(acme.get("imports", {"limit": 500}))
    jobs = body["results"] if isinstance(body, dict) else body
    assert job["id"] in [each["id"] for each in jobs]


def test_good_rows_are_imported_and_bad_rows_are_reported_with_their_line(acme):
    """Contract 6: good rows are imported, and bad rows are reported with their lines.

    Contract 12: an error has `line`, `field`, `code` and `message`.
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
    """Contract 6: the second import of the same file changes nothing."""
    lines = [HEADER, f"{unique('P')},x,1", f"{unique('P')},y,2.50"]
    assert counts(import_lines(acme, *lines)) == {"created": 2}
    assert counts(import_lines(acme, *lines)) == {"unchanged": 2}


def test_a_changed_row_updates_its_variant(acme):
    """Contract 6: the job counts the variant as `updated`."""
    variant = new_variant(acme, title="old")
    job = import_lines(acme, HEADER, f"{variant['sku']},new,{variant['retail_price']}")
    assert counts(job) == {"updated": 1}
    after = well(acme.get(f"/v3/variants/{variant['id']}"))
    assert (after["title"], after["retail_price"]) == ("new", variant["retail_price"])


def test_an_absent_column_leaves_its_field_alone_and_an_empty_cell_clears_it(acme):
    """Contract 6: a field without a column does not change. An empty cell clears an optional field.

    An empty cell of a mandatory field rejects the row.
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


def test_the_last_record_of_a_repeated_key_wins(acme):
    """Contract 12: the last record of a key counts, and the earlier records are `duplicates`."""
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
    """Contract 12: the job fails for a repeated header, a missing header or an unreadable file.

    Its `error` has `code` and `message`.
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
    """Contract 6: a job without rows ends with success."""
    job = import_lines(acme, HEADER)
    assert (job["status"], job["rows_total"]) == ("succeeded", 0)


def test_only_the_first_twenty_errors_are_in_the_job_and_all_in_the_csv(acme):
    """Contract 6: `errors` has the first 20 errors. `errors_url` leads to a CSV file with all rejected rows.

    Its columns are `line`, `field`, `code`, `message`, and the columns of the imported file.
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
    assert ",=cmd" not in answer.text, "contract 6: a cell must not begin with a formula character"
    assert "cmd()|x" in answer.text
    assert acme.get(f"imports/{job['id']}/errors").text == answer.text


def test_jobs_of_a_kind_run_in_order(acme):
    """Contract 6: jobs of the same kind of a supplier run in the order of their requests."""
    sku = unique("P")
    jobs = [
        well(acme.post("importProducts", {"data": [HEADER, f"{sku},title {at},1"]}), 201) for at in range(4)
    ]
    ended = [imported(acme, job) for job in jobs]
    assert variant_by_sku(acme, sku)["title"] == "title 3"
    assert [job["started_at"] for job in ended] == sorted(job["started_at"] for job in ended)


def test_a_cancel_of_an_ended_job_changes_nothing(acme):
    """Contract 6: `POST …/imports/{id}/cancel` stops only a job that has not ended."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1")
    answer = acme.post(f"imports/{job['id']}/cancel")
    assert answer.status in (200, 409), answer
    if answer.status == 409:
        fault(answer, 409, "invalid_transition")
    assert well(acme.get(f"imports/{job['id']}"))["status"] == "succeeded"


def test_a_dry_run_changes_nothing(acme):
    """Contract 12 names a dry run. Contract, head: `dry_run` is obeyed or refused, but never ignored."""
    sku = unique("P")
    answer = acme.post("importProducts", {"data": [HEADER, f"{sku},x,1"], "dry_run": True})
    if answer.status == 201:
        job = finished(acme, answer.json)
        assert job["status"] in ("succeeded", "awaiting_approval"), job
        assert job["status"] == "awaiting_approval" or variant_by_sku(acme, sku) is None or job["warnings"]
    else:
        fault(answer, 400, "validation_error", "dry_run")


@pytest.mark.parametrize("name", ["field_maping", "math_tranformer"])
def test_a_misspelled_optional_field_is_reported(acme, name):
    """Contract, head: no input is ignored silently."""
    answer = acme.post("importProducts", {"data": [HEADER, f"{unique('P')},x,1"], name: ["A:title"]})
    if answer.status == 201:
        assert name in str(finished(acme, answer.json)["warnings"]), answer
    else:
        fault(answer, 400, "validation_error")


def test_a_waiting_job_is_cancelled(acme):
    """Contract 6: a canceled job has the status `canceled`, and changes nothing more."""
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
    """Contract 12: `POST …/imports/{id}/approve` starts a job that waits for an approval."""
    job = import_lines(acme, HEADER, f"{unique('P')},x,1")
    fault(acme.post(f"imports/{job['id']}/approve"), 409, "invalid_transition")


# --- the request -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [{}, {"data": [], "file_url": ""}, {"field_mapping": ["A:sku"]}, {"data": None}],
    ids=str,
)
def test_exactly_one_source_is_required(acme, body):
    """Contract 6: `file_url` or `data` is required. Contract 12: an empty field counts as absent."""
    fault(acme.post("importProducts", body), 400, ("missing_parameter", "validation_error"))


def test_two_sources_are_refused(acme):
    """Contract 6: a body has exactly one of `file_url` and `data`."""
    fault(
        acme.post("importProducts", {"data": [HEADER], "file_url": "products/a.csv"}), 400, "validation_error"
    )


def test_the_interfaces_whole_body_is_accepted_with_empty_unused_parts(acme):
    """Interface 9: the body has `file_url`, `data`, `field_mapping` and `math_transformer`.

    Contract 12: an empty `file_url` or `data` counts as absent.
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
def test_a_file_outside_the_suppliers_own_area_is_refused_at_once(acme, url):
    """Contract 6: other addresses are validation errors, and the service fetches nothing.

    Contract 12: a file outside the supplier's own upload area gets 400 at once.
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
def test_a_wrong_field_of_an_import_is_named(acme, field, value):
    """Contract 2 and 6: the answer is 400 and names the field."""
    body = ({} if field in ("file_url", "data") else {"data": [HEADER, f"{unique('P')},x,1"]}) | {
        field: value
    }
    found = fault(acme.post("importProducts", body), 400, ("validation_error", "missing_parameter"))
    assert any(error["field"].startswith(field) for error in found["errors"]), found

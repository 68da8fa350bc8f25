"""The import of stock from files (interface endpoint 12; contract 6, 7 and 12)."""

from __future__ import annotations

import pytest

from .http_client import digits, fault, unique, well
from .imports import counts
from .steps import finished, new_variant, numbers, put_stock


def uploaded(area, text, folder="inventory"):
    path = f"{folder}/{unique('stock')}.csv"
    area.put(path, text.encode())
    return path


def body(supplier, path, **fields):
    """Return the complete body of interface endpoint 12."""
    return {
        "protocol": "SFTP",
        "url": path,
        "file_type": "csv",
        "amount_field": "quantity",
        "id_field": "sku",
        "id_type": "sku",
        "warehouse_id": supplier.warehouses[0],
    } | fields


def ended(supplier, request):
    return finished(supplier, well(supplier.post("importInventory", request)))


def test_the_complete_body_of_the_interface_is_accepted(acme, area):
    """Interface 12: the answer is 200. Contract 6: its body is the job."""
    sku = new_variant(acme)["sku"]
    job = ended(acme, body(acme, uploaded(area, f"sku,quantity\n{sku},7\n")))
    assert job["status"] == "succeeded", job
    assert job["rows_total"] == 1
    assert numbers(acme, sku)[0] == 7


def test_only_url_and_a_warehouse_are_required(acme, area):
    """Contract 6: `url` and a warehouse are required, and all other fields have defaults."""
    sku = new_variant(acme)["sku"]
    job = ended(acme, {"url": uploaded(area, f"sku,quantity\n{sku},7\n"), "warehouse_id": acme.warehouses[1]})
    assert job["status"] == "succeeded", job
    assert numbers(acme, sku, 1)[0] == 7


@pytest.mark.parametrize("protocol", ["SFTP", "sftp", "Sftp"])
def test_the_protocol_may_have_lower_or_upper_case_letters(acme, area, protocol):
    """Contract 6: `protocol` is SFTP, in upper or lower case."""
    sku = new_variant(acme)["sku"]
    assert (
        ended(acme, body(acme, uploaded(area, f"sku,quantity\n{sku},1\n"), protocol=protocol))["status"]
        == "succeeded"
    )


def test_the_columns_may_have_other_names(acme, area):
    """Interface 12: `amount_field` and `id_field` name the columns."""
    sku = new_variant(acme)["sku"]
    path = uploaded(area, f"Artikel;Bestand;Farbe\n{sku};12;rot\n")
    job = ended(acme, body(acme, path, id_field="Artikel", amount_field="Bestand"))
    assert job["status"] == "succeeded", job
    assert "Farbe" in job["ignored_columns"]
    assert numbers(acme, sku)[0] == 12


@pytest.mark.parametrize("kind", ["sku", "upc", "ean", "id_in_source", "variant_id"])
def test_every_id_type_is_accepted(acme, area, kind):
    """Contract 6: `id_type` is `sku`, `upc`, `ean`, `id_in_source` or `variant_id`."""
    variant = new_variant(acme, upc=digits(12), ean=digits(13), id_in_source=unique("SRC"))
    value = variant["id"] if kind == "variant_id" else variant[kind]
    job = ended(acme, body(acme, uploaded(area, f"no,quantity\n{value},3\n"), id_field="no", id_type=kind))
    assert job["status"] == "succeeded", job
    assert numbers(acme, variant["sku"])[0] == 3


def test_good_rows_are_imported_and_bad_rows_are_reported(acme, area):
    """Contract 6: good rows are imported, and bad rows are reported with their lines in the file."""
    sku = new_variant(acme)["sku"]
    path = uploaded(
        area,
        f"sku,quantity\n{unique('NO')},1\n{sku},4\n{sku}x,\n,5\n{new_variant(acme)['sku']},-1\n{new_variant(acme)['sku']},1.5\n",
    )
    job = ended(acme, body(acme, path))
    assert job["status"] == "succeeded_with_errors", job
    assert [error["line"] for error in job["errors"]] == [2, 4, 5, 6, 7]
    assert numbers(acme, sku)[0] == 4


def test_the_same_file_twice_changes_nothing(acme, area):
    """Contract 6: the second import of the same file changes nothing."""
    skus = [new_variant(acme)["sku"] for _ in range(2)]
    path = uploaded(area, f"sku,quantity\n{skus[0]},1\n{skus[1]},2\n")
    first, second = (ended(acme, body(acme, path)) for _ in range(2))
    assert first["rejected"] == second["rejected"] == 0
    assert counts(second) == {"unchanged": 2}


def test_delta_leaves_the_rest_alone(acme, area):
    """Contract 6: the default `mode` is `delta`, which changes only the variants in the file."""
    named, other = new_variant(acme, stock=1), new_variant(acme, stock=5)
    ended(acme, body(acme, uploaded(area, f"sku,quantity\n{named['sku']},2\n")))
    assert (numbers(acme, named["sku"])[0], numbers(acme, other["sku"])[0]) == (2, 5)


@pytest.mark.parametrize("held_as", ["id", "name"])
def test_a_column_can_name_the_warehouse(acme, area, held_as):
    """Contract 6: `warehouse_field` can replace `warehouse_id`.

    Contract 12: the column has the id or the exact name of a warehouse.
    """
    sku = new_variant(acme)["sku"]
    east, west = (warehouse[held_as] for warehouse in acme.about["warehouses"])
    path = uploaded(area, f'sku,quantity,wh\n{sku},3,"{east}"\n{sku},4,"{west}"\n{sku},5,nowhere\n')
    request = body(acme, path, warehouse_field="wh")
    del request["warehouse_id"]
    job = ended(acme, request)
    assert (job["rejected"], job["duplicates"]) == (1, 0), job
    assert (numbers(acme, sku, 0)[0], numbers(acme, sku, 1)[0]) == (3, 4)


def test_the_last_record_of_a_repeated_key_wins(acme, area):
    """Contract 12: the last record of a key counts, and the earlier records are `duplicates`."""
    sku = new_variant(acme)["sku"]
    job = ended(acme, body(acme, uploaded(area, f"sku,quantity\n{sku},1\n{sku},2\n")))
    assert job["duplicates"] == 1
    assert numbers(acme, sku)[0] == 2


@pytest.mark.parametrize("field", ["url", "warehouse_id"])
def test_a_missing_field_is_named(acme, area, field):
    """Contract 2: a missing required field gets `missing_parameter`."""
    request = body(acme, uploaded(area, "sku,quantity\n"))
    del request[field]
    fault(acme.post("importInventory", request), 400, "missing_parameter", field)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("protocol", "http"),
        ("protocol", 5),
        ("url", 5),
        ("url", ""),
        ("file_type", "xml"),
        ("amount_field", 5),
        ("amount_field", []),
        ("id_field", 5),
        ("id_type", "isbn"),
        ("id_type", 5),
        ("warehouse_id", "x"),
        ("warehouse_id", 2_000_000_000),
        ("warehouse_id", None),
        ("warehouse_id", -1),
        ("mode", "half"),
        ("mode", 5),
        ("warehouse_field", 5),
    ],
    ids=repr,
)
def test_a_wrong_field_is_named(acme, area, field, value):
    """Contract 2: the answer is 400 and names the field."""
    request = body(acme, uploaded(area, "sku,quantity\n")) | {field: value}
    fault(acme.post("importInventory", request), 400, ("validation_error", "missing_parameter"), field)


def test_another_suppliers_warehouse_is_refused(acme, rival, area):
    """Contract 1: a supplier cannot use the warehouse of another supplier."""
    request = body(acme, uploaded(area, "sku,quantity\n"), warehouse_id=rival.warehouses[0])
    fault(acme.post("importInventory", request), 400, "validation_error", "warehouse_id")


@pytest.mark.parametrize("field", ["amount_field", "id_field"])
def test_a_named_column_that_the_file_lacks_fails_the_job(acme, area, field):
    """Contract 12: the job is `failed`, and the message of its `error` names the missing column."""
    sku = new_variant(acme, stock=1)["sku"]
    job = ended(acme, body(acme, uploaded(area, f"sku,quantity\n{sku},7\n"), **{field: "Nowhere"}))
    assert job["status"] == "failed", job
    assert "Nowhere" in job["error"]["message"]
    assert numbers(acme, sku)[0] == 1


def test_the_template_has_the_columns_of_the_contract(acme):
    """Contract 6: the columns are `sku` and `quantity`. Line 2 marks mandatory columns.

    Line 3 is an example.
    """
    lines = acme.get("templates/inventory.csv").raw.decode("utf-8-sig").splitlines()
    assert lines[0] == "sku,quantity"
    assert lines[1].lower() == "mandatory,mandatory"
    assert len(lines) == 3


def test_the_templates_own_lines_are_skipped_with_a_warning(acme, area):
    """Contract 6: lines 2 and 3 of the template are recognized in a file, and skipped with a warning."""
    sku = new_variant(acme)["sku"]
    text = acme.get("templates/inventory.csv").raw.decode("utf-8-sig").rstrip() + f"\n{sku},8\n"
    job = ended(acme, body(acme, uploaded(area, text)))
    assert (job["status"], job["rejected"]) == ("succeeded", 0), job
    assert job["warnings"]
    assert numbers(acme, sku)[0] == 8


def test_full_sets_stock_that_the_file_does_not_name_to_zero(rival, rivals_area):
    """Contract 6 and 12: with `mode: full`, stock that the file does not name becomes 0.

    An import that sets much stock to 0 waits for an approval.
    """
    named, other = new_variant(rival, stock=1, warehouse=1), new_variant(rival, stock=5, warehouse=1)
    path = f"inventory/{unique('full')}.csv"
    rivals_area.put(path, f"sku,quantity\n{named['sku']},2\n".encode())
    job = well(
        rival.post("importInventory", {"url": path, "warehouse_id": rival.warehouses[1], "mode": "full"})
    )
    job = finished(rival, job)
    if job["status"] == "awaiting_approval":
        job = finished(rival, well(rival.post(f"imports/{job['id']}/approve")))
    assert job["status"] == "succeeded", job
    assert (numbers(rival, named["sku"], 1)[0], numbers(rival, other["sku"], 1)[0]) == (2, 0)
    put_stock(rival, other["sku"], 5, warehouse=1)


@pytest.fixture(scope="module")
def crowd(rival, demo):
    """Create 130 variants of Rival, for stock in its second warehouse. Return their SKUs."""
    skus = [unique("CROWD") for _ in range(130)]
    lines = ["sku,title,retail_price", *[f"{sku},x,1" for sku in skus]]
    assert finished(rival, well(rival.post("importProducts", {"data": lines}), 201))["created"] == 130
    return skus


def held(rival, area, crowd):
    """Return a full import that waits for approval, because it would set many rows to zero."""
    west = rival.warehouses[1]
    elements = [{"id": sku, "amount": 5} for sku in crowd]
    well(rival.post("inventory", {"warehouse_id": west, "id_type": "sku", "inventories": elements}))
    path = f"inventory/{unique('held')}.csv"
    area.put(path, f"sku,quantity\n{crowd[0]},2\n".encode())
    job = finished(
        rival, well(rival.post("importInventory", {"url": path, "warehouse_id": west, "mode": "full"}))
    )
    assert job["status"] == "awaiting_approval", job
    assert {numbers(rival, sku, 1)[0] for sku in crowd[:3]} == {5}, "nothing may change while the job waits"
    return job


def test_a_full_import_that_sets_much_stock_to_zero_waits_and_is_approved(rival, rivals_area, crowd):
    """Contract 12: a job that sets too many variants to 0 waits, and `…/approve` starts it.

    Too many means more than 100 variants, and more than the share of the approval rule.
    """
    job = held(rival, rivals_area, crowd)
    job = finished(rival, well(rival.post(f"imports/{job['id']}/approve")))
    assert job["status"] == "succeeded", job
    assert [numbers(rival, sku, 1)[0] for sku in crowd[:3]] == [2, 0, 0]
    again = rival.post(f"imports/{job['id']}/approve")
    assert again.status in (200, 409), again
    assert finished(rival, job)["status"] == "succeeded"


def test_a_waiting_job_delays_no_job_and_is_superseded(rival, rivals_area, crowd):
    """Contract 12: a waiting job delays no other job. A later successful job supersedes the waiting job."""
    waiting = held(rival, rivals_area, crowd)
    path = f"inventory/{unique('later')}.csv"
    rivals_area.put(path, f"sku,quantity\n{crowd[1]},9\n".encode())
    later = finished(
        rival, well(rival.post("importInventory", {"url": path, "warehouse_id": rival.warehouses[1]}))
    )
    assert later["status"] == "succeeded", later
    assert numbers(rival, crowd[1], 1)[0] == 9
    assert finished(rival, waiting)["status"] in ("canceled", "awaiting_approval")
    answer = rival.post(f"imports/{waiting['id']}/approve")
    if answer.status == 200:
        assert finished(rival, waiting)["status"] != "succeeded" or numbers(rival, crowd[1], 1)[0] == 9
    else:
        fault(answer, 409, "invalid_transition")
    assert numbers(rival, crowd[1], 1)[0] == 9


def test_a_waiting_job_is_cancelled(rival, rivals_area, crowd):
    """Contract 6: `POST …/imports/{id}/cancel` stops a job."""
    job = held(rival, rivals_area, crowd)
    well(rival.post(f"imports/{job['id']}/cancel"))
    assert finished(rival, job)["status"] == "canceled"
    assert numbers(rival, crowd[1], 1)[0] == 5


def test_a_numeric_sku_keeps_its_leading_zeros(acme, area):
    """Contract 12: SKUs with and without leading zeros are different."""
    sku = "00" + digits(12)
    new_variant(acme, sku=sku)
    job = ended(acme, body(acme, uploaded(area, f"sku,quantity\n{sku},7\n")))
    assert job["status"] == "succeeded", job
    assert numbers(acme, sku)[0] == 7


@pytest.mark.parametrize("cell", ["5.0", "5", " 5 ", "5,0"])
def test_an_amount_is_a_whole_number_and_never_rounded(acme, area, cell):
    """Contract 6: the service never guesses. Each of these cells is read as 5, or its row is rejected."""
    sku = new_variant(acme)["sku"]
    job = ended(acme, body(acme, uploaded(area, f'sku,quantity\n{sku},"{cell}"\n')))
    assert job["rejected"] == 1 or numbers(acme, sku)[0] == 5, job
    if cell == "5":
        assert job["rejected"] == 0

"""Jobs over the API: actions, rights and content."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import factory
import pytest
from django.utils import timezone

from accounts.scopes import Scope
from catalog.models import Variant
from events.models import Event
from imports.models import ImportJob, Status
from imports.pipeline import batches
from imports.pipeline.job_runner import run_job
from inventory.models import StockLevel, Warehouse
from sftp_ingest.area.files import Area
from tests.factories import StockLevelFactory, VariantFactory, set_stock

ROWS = ["sku,title,retail_price", "A-1,Shirt,1"]


@pytest.fixture
def started(client_for):
    """Return a function that starts an import, and returns its job. The job waits for a worker."""

    def start(supplier, **body):
        answer = client_for(supplier).post("importProducts", {"data": ROWS, **body})
        return ImportJob.objects.get(pk=answer.json()["id"])

    return start


def test_starting_answers_the_job_and_the_envelope(acme, client_for):
    answer = client_for(acme).post("importProducts", {"data": ROWS})

    body = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"http://testserver/v3/suppliers/{acme.pk}/imports/{body['id']}"
    assert (body["status"], body["kind"], body["success"], body["rows_total"]) == (
        "queued",
        "products",
        True,
        None,
    )
    assert body["message"]
    assert body["errors_url"] == f"http://testserver/v3/suppliers/{acme.pk}/imports/{body['id']}/errors"
    wanted = {"source", "rows_done", "created", "updated", "unchanged", "rejected", "errors", "created_at"}
    assert wanted <= set(body)


def test_imports_are_listed_newest_first_with_filters_in_few_queries(
    acme, rival, client_for, started, django_assert_max_num_queries
):
    jobs = [started(acme, data=[*ROWS, ",x,"]) for _ in range(3)]
    started(rival)
    for job in jobs[:2]:
        run_job(job.pk)
    client = client_for(acme)
    client.get("imports")

    # Queries: the key, the jobs, and the first errors of all jobs.
    with django_assert_max_num_queries(3):
        listed = client.get("imports").json()

    assert [job["id"] for job in listed["results"]] == [job.pk for job in reversed(jobs)]
    assert listed["results"][2]["errors"][0]["line"] == 3
    assert [j["id"] for j in client.get("imports", {"status": "queued"}).json()["results"]] == [jobs[2].pk]
    assert client.get("imports", {"kind": "inventory"}).json()["results"] == []
    assert client.get("imports", {"kind": "shoes"}).status_code == 400
    page = client.get("imports", {"limit": 2}).json()
    assert [j["id"] for j in client.get(page["next"].partition("testserver")[2]).json()["results"]] == [
        jobs[0].pk
    ]


def test_a_rivals_import_does_not_exist(acme, rival, client_for, started):
    job, client = started(acme), client_for(rival)

    for path in ("", "/errors"):
        assert client.get(f"imports/{job.pk}{path}").status_code == 404
    for path in ("cancel", "approve", "retry"):
        assert client.post(f"imports/{job.pk}/{path}").status_code == 404


def test_product_jobs_are_for_catalog_keys_and_stock_jobs_for_inventory_keys(acme, client_for, started):
    job = started(acme)
    stock = client_for(acme, scopes=[Scope.INVENTORY_READ, Scope.INVENTORY_WRITE])

    assert stock.get("imports").json()["results"] == []
    assert stock.get(f"imports/{job.pk}").status_code == 403
    assert stock.post(f"imports/{job.pk}/cancel").status_code == 403
    assert stock.post("importProducts", {"data": ROWS}).status_code == 403
    assert client_for(acme, scopes=[Scope.CATALOG_READ]).get(f"imports/{job.pk}").status_code == 200
    assert client_for(acme, scopes=[Scope.CATALOG_READ]).post(f"imports/{job.pk}/cancel").status_code == 403
    assert client_for(acme, scopes=[Scope.FULFILLMENTS_READ]).get("imports").json()["results"] == []
    assert client_for(acme, scopes=[Scope.FULFILLMENTS_READ]).get(f"imports/{job.pk}").status_code == 403


def test_the_error_report_can_be_corrected_and_uploaded(acme, client_for, upload, ran):
    content = (
        "sku,title,retail_price,description\nA-1,=cmd(),cheap,-x\nA-2,Hat,1,\nA-3,Cap\n'=A-4,Tie,1 000,\n"
    )
    job = ran(acme, file_url=upload(acme, content))
    answer = client_for(acme).get(f"imports/{job['id']}/errors", Accept="text/csv")

    assert answer["Content-Type"].startswith("text/csv")
    report = b"".join(answer.streaming_content).decode()
    rows = list(csv.reader(io.StringIO(report)))
    assert rows[0] == ["line", "field", "code", "message", "sku", "title", "retail_price", "description"]
    assert [row[:3] for row in rows[1:]] == [
        ["2", "retail_price", "not_a_number"],
        ["4", "", "ragged"],
        ["5", "retail_price", "not_a_number"],
    ]
    assert rows[1][4:] == ["A-1", "'=cmd()", "cheap", "'-x"]

    corrected = report.replace("cheap", "5").replace("1 000", "1000").replace("A-3,Cap", "A-3,Cap,7,")
    again = ran(acme, file_url=upload(acme, corrected))

    assert (again["status"], again["created"], again["ignored_columns"]) == ("succeeded", 3, []), again
    assert Variant.objects.get(sku="A-1").title == "=cmd()"
    assert Variant.objects.get(sku="A-1").description == "-x"
    assert Variant.objects.filter(sku="'=A-4").exists()


def test_a_report_without_errors_is_a_header(acme, client_for, ran):
    job = ran(acme, data=ROWS)

    answer = client_for(acme).get(f"imports/{job['id']}/errors")

    assert b"".join(answer.streaming_content) == b"line,field,code,message,sku,title,retail_price\r\n"


def test_a_waiting_job_is_canceled_at_once_and_a_finished_one_is_not(acme, client_for, started):
    job, client = started(acme), client_for(acme)

    assert client.post(f"imports/{job.pk}/cancel").json()["status"] == "canceled"
    assert client.post(f"imports/{job.pk}/cancel").status_code == 200
    assert not run_job(job.pk)
    done = started(acme)
    run_job(done.pk)
    assert client.post(f"imports/{done.pk}/cancel").json()["code"] == "invalid_transition"


def test_a_running_job_stops_at_its_next_range(acme, client_for, started, monkeypatch):
    monkeypatch.setattr("imports.pipeline.batches.STEP", 1)
    job = started(acme, data=[ROWS[0], *(f"A-{i},x,1" for i in range(10))])
    client = client_for(acme)

    land_range, taken = batches.land_range, []

    def cancel_after_three(*args):
        taken.append(args)
        if len(taken) == 3:
            client.post(f"imports/{job.pk}/cancel")
        return land_range(*args)

    monkeypatch.setattr("imports.pipeline.batches.land_range", cancel_after_three)

    run_job(job.pk)

    job.refresh_from_db()
    assert job.status == Status.CANCELED
    assert job.created == Variant.objects.count() < 10
    assert job.finished_at


def test_a_failed_job_can_be_retried_and_others_cannot(acme, client_for, started, monkeypatch):
    job, client = started(acme), client_for(acme)
    with monkeypatch.context() as broken:
        broken.setattr("imports.pipeline.batches.land_range", lambda *args: 1 / 0)
        run_job(job.pk)
    failed = client.get(f"imports/{job.pk}").json()
    assert (failed["status"], failed["error"]["code"]) == ("failed", "internal_error")

    assert client.post(f"imports/{job.pk}/retry").json()["status"] == "queued"
    run_job(job.pk)

    again = client.get(f"imports/{job.pk}").json()
    assert (again["status"], again["created"], again["error"]) == ("succeeded", 1, None)
    assert client.post(f"imports/{job.pk}/retry").status_code == 409


def test_every_import_records_its_events(acme, started):
    job = started(acme)
    run_job(job.pk)

    events = Event.objects.filter(import_id=job.pk).order_by("id")

    assert [event.type for event in events] == ["import.queued", "import.started", "import.succeeded"]
    assert {(event.supplier_id, event.area) for event in events} == {(acme.pk, "catalog")}
    assert events[2].data["created"] == 1


def test_jobs_of_one_supplier_and_kind_run_in_order_and_other_jobs_beside_them(acme, rival, started):
    first, second, other = started(acme), started(acme), started(rival)

    assert not run_job(second.pk)
    assert run_job(other.pk)
    assert run_job(first.pk)
    assert run_job(second.pk)


def test_the_job_reads_the_version_of_the_file_that_it_was_started_with(acme, client_for, upload):
    path = upload(acme, "sku,title,retail_price\nOLD,x,1\n")
    job = client_for(acme).post("importProducts", {"file_url": f"/{path}"}).json()
    upload(acme, "sku,title,retail_price\nNEW,x,1\n")

    run_job(job["id"])

    assert [each.sku for each in Variant.objects.all()] == ["OLD"]


def test_progress_is_shown_while_a_job_runs(acme, client_for, started):
    job = started(acme)
    ImportJob.objects.filter(pk=job.pk).update(
        status=Status.RUNNING,
        started_at=timezone.now() - timedelta(seconds=10),
        rows_total=300,
        rows_done=100,
    )

    shown = client_for(acme).get(f"imports/{job.pk}").json()

    assert (shown["rows_per_second"], shown["seconds_left"]) == (10, 20)


def test_a_dry_run_shows_its_forecast_and_changes_nothing(acme, a_variant, ran):
    a_variant(acme, "SAME", title="x", retail_price="1")
    a_variant(acme, "OLD", title="x", retail_price="10")
    before = list(Variant.objects.order_by("id").values())

    job = ran(
        acme,
        data=["sku,title,retail_price,listed", "SAME,x,1,", "OLD,x,25,false", "NEW,x,3,", "BAD,,3,"],
        dry_run=True,
    )

    assert (job["status"], job["dry_run"]) == ("succeeded_with_errors", True)
    assert [job[n] for n in ("created", "updated", "unchanged", "rejected")] == [1, 1, 1, 1]
    assert job["report"]["price_changes"] == [
        {"sku": "OLD", "field": "retail_price", "from": "10", "to": "25", "factor": 2.5}
    ]
    assert job["report"]["delisted"] == 1
    assert list(Variant.objects.order_by("id").values()) == before


def test_a_dry_run_of_a_full_stock_file_shows_the_zeroed_stock(acme, a_variant, stocked):
    for sku in ("A-1", "A-2", "A-3"):
        a_variant(acme, sku, stock=5)

    job = stocked(acme, "sku,quantity\nA-1,5\nA-2,6\n", mode="full", dry_run=True)

    assert (job["updated"], job["unchanged"], job["report"]["zeroed"]) == (1, 1, 1)
    assert set(StockLevel.objects.values_list("on_hand", flat=True)) == {5}


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(("mode", "zeroed"), [("delta", 1), ("full", 2)])
def test_rows_with_quantity_0_are_counted_too(acme, a_variant, stocked, mode, zeroed, dry_run):
    for sku in ("NAMED", "NOT-NAMED", "SAME"):
        a_variant(acme, sku, stock=5)
    a_variant(acme, "EMPTY", stock=0)

    job = stocked(acme, "sku,quantity\nNAMED,0\nSAME,5\nEMPTY,0\n", mode=mode, dry_run=dry_run)

    kept = {"kept_newer": 0} if mode == "full" else {}
    assert job["report"] == {"zeroed": zeroed, **kept}


def test_a_dry_run_of_a_cost_list_shows_the_largest_changes_of_each_price(acme, a_variant, ran):
    a_variant(acme, "A-1", retail_price="10", wholesale_price="4")
    a_variant(acme, "A-2", retail_price="10", wholesale_price=None)

    job = ran(
        acme,
        data=["sku,title,retail_price,wholesale_price", "A-1,x,20,1", "A-2,x,10,9"],
        dry_run=True,
    )

    assert job["report"]["price_changes"] == [
        {"sku": "A-1", "field": "wholesale_price", "from": "4", "to": "1", "factor": 4},
        {"sku": "A-1", "field": "retail_price", "from": "10", "to": "20", "factor": 2},
    ]


@pytest.fixture
def many(acme, a_variant):
    """Create more variants in stock than a file may set to zero without approval."""
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    skus = [f"M-{number:03}" for number in range(150)]
    variants = VariantFactory.create_in_bulk(150, supplier=acme, sku=factory.Iterator(skus), retail_price=1)
    StockLevelFactory.create_in_bulk(150, variant=factory.Iterator(variants), warehouse=east, on_hand=5)
    return variants


def test_a_file_that_would_zero_most_of_the_stock_waits_until_the_supplier_approves(
    acme, many, client_for, stocked
):
    job = stocked(acme, "sku,quantity\nM-000,5\n", mode="full")

    assert job["status"] == "awaiting_approval"
    assert "149 of 150" in job["report"]["reasons"][0]
    assert not StockLevel.objects.filter(on_hand=0).exists()

    client = client_for(acme)
    part = client.post(f"imports/{job['id']}/approve", {"lines": [2]})
    assert (part.status_code, part.json()["errors"][0]["field"]) == (400, "lines")
    assert client.post(f"imports/{job['id']}/approve").json()["status"] == "queued"
    run_job(job["id"])

    assert client.get(f"imports/{job['id']}").json()["report"]["zeroed"] == 149
    assert StockLevel.objects.filter(on_hand=0).count() == 149
    assert client.post(f"imports/{job['id']}/approve").status_code in (200, 409)


def test_stock_that_was_counted_later_than_the_file_is_no_reason_to_wait(acme, many, stocked):
    StockLevel.objects.update(counted_at=timezone.now())
    counted = (timezone.now() - timedelta(days=1)).isoformat()

    job = stocked(acme, "sku,quantity\nM-000,5\nM-001,0\n", mode="full", as_of=counted)

    assert (job["status"], job["rejected"]) == ("succeeded_with_errors", 2)
    assert job["report"] == {"zeroed": 0, "kept_newer": 148}


def test_a_waiting_job_delays_no_job_and_a_later_landed_job_supersedes_it(acme, many, client_for, stocked):
    waiting = stocked(acme, "sku,quantity\nM-000,5\n", mode="full")

    later = stocked(acme, "sku,quantity\nM-001,7\n")

    assert later["status"] == "succeeded"
    old = client_for(acme).get(f"imports/{waiting['id']}").json()
    assert (old["status"], old["error"]["code"]) == ("canceled", "superseded")
    assert client_for(acme).post(f"imports/{waiting['id']}/approve").status_code == 409


def test_delta_files_and_small_full_files_need_no_approval(acme, many, client_for, stocked):
    zeros = "".join(f"M-{i:03},0\n" for i in range(150))
    assert stocked(acme, f"sku,quantity\n{zeros}")["status"] == "succeeded"
    set_stock(on_hand=5)

    client_for(acme).request("PUT", "importPolicy", {"zeroed_least": 150})

    assert stocked(acme, "sku,quantity\nM-000,5\n", mode="full")["status"] == "succeeded"


def test_a_dry_run_reports_that_the_file_would_wait(acme, many, stocked):
    job = stocked(acme, "sku,quantity\nM-000,5\n", mode="full", dry_run=True)

    assert job["status"] == "succeeded"
    assert job["report"] == {
        "zeroed": 149,
        "kept_newer": 0,
        "would_wait": ["The file would set 149 of 150 stocked variants to 0."],
    }
    assert not StockLevel.objects.filter(on_hand=0).exists()


def test_the_approval_rule_can_cover_delta_files_prices_and_delisting(acme, many, client_for, ran, stocked):
    client = client_for(acme)
    policy = {"zeroed_in_delta": True, "price_factor": 2, "delisted_share": 0.5}
    assert client.put("importPolicy", policy).json()["price_factor"] == 2

    zeros = "".join(f"M-{i:03},0\n" for i in range(150))
    assert stocked(acme, f"sku,quantity\n{zeros}")["status"] == "awaiting_approval"
    assert ran(acme, data=["sku,retail_price", "M-000,2"])["status"] == "succeeded"
    assert ran(acme, data=["sku,retail_price", "M-001,2.01"])["status"] == "awaiting_approval"
    gone = ["sku,listed", *(f"M-{i:03},no" for i in range(100))]
    assert ran(acme, data=gone)["status"] == "awaiting_approval"
    assert Variant.objects.filter(listed=False).count() == 0


def test_a_policy_that_makes_no_sense_is_refused(acme, client_for):
    for policy in ({"zeroed_share": 2}, {"price_factor": 0.5}, {"zeroed_least": -1}):
        answer = client_for(acme).put("importPolicy", policy)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, next(iter(policy)))


def test_a_variant_delisted_as_missing_sku_is_listed_again_only_on_request(acme, a_variant, ran):
    variant = a_variant(acme, "A-1", title="x", listed=False)

    ran(acme, data=["sku,title,listed", "A-1,y,"])
    variant.refresh_from_db()
    assert (variant.title, variant.listed) == ("y", False)

    ran(acme, data=["sku,listed", "A-1,true"])
    variant.refresh_from_db()
    assert variant.listed


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": "inventory/s.csv"}, "warehouse_id"),
        ({"url": "inventory/s.csv", "warehouse_id": 999999999}, "warehouse_id"),
        ({"url": "inventory/s.csv", "warehouse_id": 1, "warehouse_field": "w"}, "warehouse_field"),
        ({"url": "inventory/s.csv", "warehouse_field": "w", "protocol": "FTP"}, "protocol"),
        ({"url": "inventory/s.csv", "warehouse_field": "w", "id_type": "asin"}, "id_type"),
        ({"url": "inventory/s.csv", "warehouse_field": "w", "mode": "half"}, "mode"),
        ({"url": "inventory/s.csv", "warehouse_field": "w", "as_of": "2999-01-01"}, "as_of"),
        ({"url": "inventory/missing.csv", "warehouse_field": "w"}, "url"),
    ],
)
def test_a_stock_request_that_cannot_work_names_the_field(acme, client_for, body, field):
    answer = client_for(acme).post("importInventory", body)

    assert answer.status_code == 400
    assert field in [error["field"] for error in answer.json()["errors"]], answer.json()


@pytest.mark.parametrize("had_login", [False, True])
def test_a_missing_file_is_named_also_before_the_first_login(acme, client_for, had_login):
    """Every upload area has the folder `inventory` (contract 8), but the first login makes it."""
    if had_login:
        Area(acme.pk).prepare()
    body = {"url": "inventory/none.csv", "warehouse_field": "w"}
    answer = client_for(acme).post("importInventory", body)

    assert answer.status_code == 400
    assert "There is no file inventory/none.csv in the upload area." in answer.json()["message"]


def test_a_rivals_warehouse_is_unknown(acme, rival, client_for, upload):
    path = upload(acme, "sku,quantity\n", "inventory/s.csv")
    foreign = Warehouse.objects.get(name="Rival East")

    answer = client_for(acme).post("importInventory", {"url": path, "warehouse_id": foreign.pk})

    assert answer.json()["errors"][0]["field"] == "warehouse_id"


def test_unread_records_keep_a_full_file_from_setting_anything_to_zero(acme, a_variant, stocked):
    for sku in ("A-1", "A-2"):
        a_variant(acme, sku, stock=5)

    job = stocked(acme, "sku,quantity\nA-1,6\nA-", mode="full")

    assert (job["report"]["zeroed"], job["updated"]) == (0, 1)
    assert job["report"]["kept"]
    assert StockLevel.objects.get(variant__sku="A-2").on_hand == 5

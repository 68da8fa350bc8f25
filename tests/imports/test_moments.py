"""A stock file has the moment of its upload: later movements count, and each count is in the ledger."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.actors import Actor
from imports import publishing, sweeping
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from inventory.importing.importer import StockImporter
from inventory.models import StockLevel, StockMovement, Warehouse
from inventory.reservations import Cause, LockedStock
from sftp_ingest.area.files import Area
from sftp_ingest.models import Blob
from tests.factories import UploadFactory
from tests.imports.test_stock import levels
from tests.orders.invariants import violations
from tests.upload_area import area_of

EAST = "Acme East"
BY = Actor.system("test")


def now() -> datetime:
    """Return the time of the database's clock. All later actions have later times on this clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


@pytest.fixture(autouse=True)
def _sound(db):
    yield
    assert violations() == []


@pytest.fixture
def east(acme):
    return Warehouse.objects.get(supplier=acme, is_default=True)


@pytest.fixture
def moves(acme, east):
    """Return a function that reserves, ships or returns stock of a variant, as orders do."""

    def move(verb, sku, *units):
        variant = acme.variants.get(sku=sku)
        stock = LockedStock.lock([variant.pk], by=BY)
        getattr(stock, verb)((variant.pk, east.pk), *units, Cause())
        stock.save()

    return move


@pytest.fixture
def uploaded(acme, east, upload, client_for):
    """Return a function that uploads a file of Acme, complete at a given moment, and starts its import.

    The import waits for a worker.
    """

    def put(content, at, **body):
        path = upload(acme, content, "inventory/stock.csv")
        Blob.objects.update(completed_at=at)
        answer = client_for(acme).post("importInventory", {"url": path, "warehouse_id": east.pk, **body})
        assert answer.status_code == 200, answer.content
        return answer.json()

    return put


@pytest.fixture
def count(acme, east, client_for):
    def push(sku, amount, **body):
        elements = [{"sku": sku, "quantity": amount}]
        return client_for(acme).post("inventory", {"warehouse_id": east.pk, "inventories": elements, **body})

    return push


def ended(acme, client_for, job):
    run_job(job["id"])
    return client_for(acme).get(f"imports/{job['id']}").json()


def test_each_count_of_a_file_is_a_movement_that_names_job_and_line(acme, a_variant, client_for, stocked):
    for sku, stock in {"MORE": 5, "SAME": 5, "NEW": None, "LEFT-OUT": 4}.items():
        a_variant(acme, sku, stock=stock)

    job = stocked(acme, "sku,quantity\nMORE,7\nSAME,5\nNEW,3\nnobody,1\n", mode="full")

    found = client_for(acme).get("inventory/movements", {"kind": "count"}).json()
    assert {each["sku"]: (each["on_hand_change"], each["on_hand"], each["cause"]) for each in found} == {
        "MORE": (2, 7, {"import_id": job["id"], "line": 2}),
        "NEW": (3, 3, {"import_id": job["id"], "line": 4}),
        "LEFT-OUT": (-4, 0, {"import_id": job["id"]}),
    }
    assert {each["actor"] for each in found} == {ImportJob.objects.get().created_by}


def test_the_moment_of_a_file_is_the_end_of_its_upload(acme, a_variant, client_for, uploaded, moves, count):
    for sku in ("SHIPPED", "CAME-BACK", "COUNTED", "LEFT-OUT", "STILL-THERE"):
        a_variant(acme, sku, stock=9)
    before = now()
    job = uploaded("sku,quantity\nSHIPPED,6\nCAME-BACK,6\nCOUNTED,6\n", before, mode="full")
    moves("ship", "SHIPPED", 2)
    moves("return_", "CAME-BACK", 3)
    moves("return_", "STILL-THERE", 1)
    count("COUNTED", 8)
    later = StockLevel.objects.get(variant__sku="COUNTED").counted_at
    assert later

    job = ended(acme, client_for, job)

    assert levels(acme) == {
        ("SHIPPED", EAST): 4,
        ("CAME-BACK", EAST): 9,
        ("COUNTED", EAST): 8,
        ("LEFT-OUT", EAST): 0,
        ("STILL-THERE", EAST): 1,
    }
    [stale] = job["errors"]
    assert (stale["line"], stale["field"], stale["code"]) == (4, "quantity", "stale_count")
    for moment in (before, later):
        assert moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ") in stale["message"]
    assert job["as_of"] == before.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert set(StockLevel.objects.exclude(variant__sku="COUNTED").values_list("counted_at", flat=True)) == {
        before
    }


def test_the_moment_of_an_automatic_import_is_the_end_of_its_upload(acme, east, a_variant, client_for, count):
    a_variant(acme, "A-1", stock=9)
    client_for(acme).put("autoImports/inventory", {"warehouse_id": east.pk})
    (area_of(acme) / "inventory" / "s.csv").write_text("sku,quantity\nA-1,1\n")
    UploadFactory.create(supplier=acme, path="inventory/s.csv", size=21, uploaded_at=now())
    count("A-1", 8)

    sweeping.take_uploads()
    run_job(ImportJob.objects.get().pk)

    assert levels(acme) == {("A-1", EAST): 8}


def test_a_renamed_file_keeps_the_moment_of_its_own_upload(acme, east, client_for, upload):
    path = upload(acme, "sku,quantity\nLAMP,9\n", "inventory/stock.csv")
    yesterday = now() - timedelta(days=1)
    Blob.objects.update(completed_at=yesterday)
    UploadFactory.create(supplier=acme, path=path, size=20, uploaded_at=yesterday)
    upload(acme, "sku,quantity\nLAMP,7\n", "inventory/new.csv")
    put_at = Blob.objects.get(completed_at__gt=yesterday).completed_at
    Area(acme.pk).rename(("inventory", "new.csv"), ("inventory", "stock.csv"))

    client_for(acme).post("importInventory", {"url": path, "warehouse_id": east.pk})

    assert ImportJob.objects.get().as_of == put_at


def test_a_moment_slightly_in_the_future_counts_as_now(acme, a_variant, count, stocked):
    a_variant(acme, "A-1", stock=1)
    stocked(acme, "sku,quantity\nA-1,7\n", as_of=(now() + timedelta(minutes=4)).isoformat())

    assert count("A-1", 3).json()["updated"] == 1


@pytest.mark.parametrize("moment", [timedelta(minutes=6), -timedelta(days=401)])
def test_a_moment_in_the_future_or_before_the_ledger_is_refused(acme, east, client_for, upload, moment):
    path = upload(acme, "sku,quantity\n", "inventory/stock.csv")
    body = {"url": path, "warehouse_id": east.pk, "as_of": (timezone.now() + moment).isoformat()}

    answer = client_for(acme).post("importInventory", body)

    assert answer.status_code == 400
    assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [("as_of", "invalid")]


def test_a_file_from_before_the_ledger_is_not_landed(acme, a_variant, client_for, uploaded):
    a_variant(acme, "A-1", stock=5)
    job = ended(acme, client_for, uploaded("sku,quantity\nA-1,1\n", now() - timedelta(days=401)))

    assert (job["status"], job["error"]["code"]) == ("failed", "too_old")
    assert levels(acme) == {("A-1", EAST): 5}


def test_an_automatic_import_cannot_have_a_fixed_moment(acme, east, client_for):
    body = {"warehouse_id": east.pk, "as_of": "2026-01-01T00:00:00Z"}
    client = client_for(acme)

    assert client.put("autoImports/inventory", body).json()["errors"][0]["field"] == "as_of"
    saved = client.put("autoImports/inventory", body | {"as_of": None}).json()["options"]
    assert client.put("autoImports/inventory", saved).status_code == 200


def test_a_count_that_changes_no_number_makes_older_counts_stale(acme, a_variant, stocked, count):
    a_variant(acme, "A-1", stock=5)
    a_variant(acme, "EMPTY", stock=0)
    before = now()
    stocked(acme, "sku,quantity\nA-1,5\n", mode="full")

    for sku in ("A-1", "EMPTY"):
        answer = count(sku, 9, as_of=before.isoformat()).json()
        assert [each["code"] for each in answer["errors"]] == ["stale_count"]


def test_a_refusal_before_any_count_is_a_count_of_zero(acme, a_variant, client_for, uploaded, moves, stocked):
    for sku in ("REFUSED", "SHIPPED", "FRESH"):
        a_variant(acme, sku)
    job = uploaded("sku,quantity\nREFUSED,6\nSHIPPED,6\nFRESH,6\n", now())
    moves("refuse", "REFUSED")
    moves("ship", "SHIPPED", 2)

    job = ended(acme, client_for, job)

    assert [(each["line"], each["code"]) for each in job["errors"]] == [(2, "stale_count")]
    assert levels(acme) == {("SHIPPED", EAST): 4, ("FRESH", EAST): 6}


def test_stock_counted_after_a_full_file_is_kept_and_reported(
    acme, a_variant, client_for, uploaded, count, admin_client
):
    for sku in ("NAMED", "LEFT-OUT", "NEWER", "NEWER-NONE"):
        a_variant(acme, sku, stock=9)
    job = uploaded("sku,quantity\nNAMED,6\n", now(), mode="full")
    count("NEWER", 3)
    count("NEWER-NONE", 0)

    job = ended(acme, client_for, job)

    assert job["report"] == {"zeroed": 1, "kept_newer": 1}
    assert levels(acme)["NEWER", EAST] == 3
    page = admin_client.get(f"/admin/imports/importjob/{job['id']}/change/").content.decode()
    assert "Kept newer" in page
    summary = publishing.summary(ImportJob.objects.get(pk=job["id"]))
    assert "set to zero 1, kept because counted later 1." in summary


@pytest.mark.parametrize("mode", ["delta", "full"])
def test_a_dry_run_forecasts_exactly_the_effect_of_the_file(
    acme, a_variant, client_for, uploaded, moves, count, mode
):
    skus = ("SAME", "SHIPPED", "GONE", "COUNTED", "LEFT-OUT", "LEFT-BACK", "NEWER")
    for sku in skus:
        a_variant(acme, sku, stock=9)
    for sku in ("REFUSED", "NEW"):
        a_variant(acme, sku)
    content = "sku,quantity\nSAME,9\nSHIPPED,9\nGONE,2\nCOUNTED,5\nREFUSED,5\nNEW,5\nBAD,x\n"
    before = now()
    jobs = [uploaded(content, before, mode=mode, dry_run=dry) for dry in (True, False)]
    moves("ship", "SHIPPED", 4)
    moves("ship", "GONE", 2)
    moves("refuse", "REFUSED")
    moves("return_", "LEFT-BACK", 2)
    count("COUNTED", 8)
    count("NEWER", 8)

    dry, real = (ended(acme, client_for, job) for job in jobs)

    kept = ("created", "updated", "unchanged", "rejected", "report", "status")
    assert {name: dry[name] for name in kept} == {name: real[name] for name in kept}
    assert (real["created"], real["updated"], real["unchanged"], real["rejected"]) == (1, 1, 2, 3)


def test_a_file_that_is_approved_late_overwrites_nothing_newer(
    acme, a_variant, client_for, uploaded, count, moves
):
    client_for(acme).put("importPolicy", {"zeroed_least": 1, "zeroed_in_delta": True})
    for sku in ("A-1", "A-2", "A-3"):
        a_variant(acme, sku, stock=5)
    job = ended(acme, client_for, uploaded("sku,quantity\nA-1,0\nA-2,3\n", now(), mode="full"))
    assert job["status"] == "awaiting_approval"
    count("A-1", 8)
    moves("ship", "A-2", 1)

    client_for(acme).post(f"imports/{job['id']}/approve")
    job = ended(acme, client_for, job)

    assert [each["code"] for each in job["errors"]] == ["stale_count"]
    assert levels(acme) == {("A-1", EAST): 8, ("A-2", EAST): 2, ("A-3", EAST): 0}


def test_units_shipped_since_the_count_hold_a_file_and_returned_units_do_not(
    acme, a_variant, client_for, uploaded, moves
):
    client_for(acme).put("importPolicy", {"zeroed_least": 0, "zeroed_share": 0})
    for sku in ("A-1", "A-2"):
        a_variant(acme, sku, stock=5)
    job = uploaded("sku,quantity\nA-1,2\n", now(), mode="full")
    moves("return_", "A-2", 1)
    moves("ship", "A-1", 2)

    job = ended(acme, client_for, job)

    assert job["report"]["reasons"] == ["The file would set 1 of 2 stocked variants to 0."]


@pytest.fixture
def meanwhile(monkeypatch):
    """Return a function that makes a concurrent change between the check of a range and its merge."""
    land = StockImporter.land

    def happens(work):
        def landing(self, context):
            monkeypatch.setattr(StockImporter, "land", land)
            work()
            return land(self, context)

        monkeypatch.setattr(StockImporter, "land", landing)

    return happens


def test_a_later_count_that_commits_first_stays(acme, a_variant, stocked, count, meanwhile):
    a_variant(acme, "A-1", stock=5)
    a_variant(acme, "A-2", stock=5)
    meanwhile(lambda: count("A-1", 8))

    job = stocked(acme, "sku,quantity\nA-1,1\nA-2,2\n")

    assert (job["updated"], job["unchanged"]) == (1, 0)
    assert [(each["line"], each["code"]) for each in job["errors"]] == [(2, "stale_count")]
    assert levels(acme) == {("A-1", EAST): 8, ("A-2", EAST): 2}


def test_a_stock_level_created_by_another_request_is_counted_once(acme, a_variant, stocked, count, meanwhile):
    a_variant(acme, "A-1")
    a_variant(acme, "A-2")
    older = now()
    meanwhile(lambda: count("A-1", 8, as_of=older.isoformat()))

    job = stocked(acme, "sku,quantity\nA-1,1\nA-2,2\n")

    assert (job["created"], job["updated"], job["rejected"]) == (1, 1, 0)
    assert levels(acme) == {("A-1", EAST): 1, ("A-2", EAST): 2}
    assert StockMovement.objects.filter(import_id=job["id"]).count() == 2


def test_a_parcel_that_commits_first_is_subtracted(acme, a_variant, stocked, moves, meanwhile):
    a_variant(acme, "A-1", stock=5)
    meanwhile(lambda: moves("ship", "A-1", 3))

    job = stocked(acme, "sku,quantity\nA-1,7\n")

    assert (job["updated"], levels(acme)) == (1, {("A-1", EAST): 4})

"""Workers die, Redis forgets, the database crashes: each job ends once, and correctly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone

from catalog.models import Variant
from events.models import Event
from fastdb import leased
from imports import sweeping, wake
from imports.models import AutoImport, ImportJob, Status
from imports.pipeline import batches
from imports.pipeline.job_runner import run_job
from imports.pipeline.lease import claim
from imports.staging_table import StagingTable
from inventory.models import StockLevel, Warehouse
from sftp_ingest.area import contents
from sftp_ingest.area.made_files import made_folder
from sftp_ingest.models import Blob, Upload
from sftp_ingest.tasks import collect
from tests.factories import ImportJobFactory, UploadFactory
from tests.upload_area import area_of

ROWS = ["sku,title,retail_price", *(f"A-{i},x,{i}" for i in range(10)), "BAD,,1", "A-0,again,5", "RAGGED"]
EXPECTED = {"created": 10, "rejected": 2, "duplicates": 1, "updated": 0, "unchanged": 0, "rows_done": 13}


class Killed(BaseException):
    """An exception that no code in the worker catches, like SIGKILL."""


def counts(job):
    job.refresh_from_db()
    return {name: getattr(job, name) for name in EXPECTED}


def lease_runs_out(job):
    ImportJob.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


@pytest.fixture
def job(acme, client_for, monkeypatch):
    monkeypatch.setattr("imports.pipeline.batches.STEP", 3)
    answer = client_for(acme).post("importProducts", {"data": ROWS})
    return ImportJob.objects.get(pk=answer.json()["id"])


@pytest.mark.parametrize("moment", range(12))
@pytest.mark.parametrize("when", ["before", "after"])
def test_after_a_kill_at_any_bookmark_the_next_worker_continues(job, monkeypatch, moment, when):
    update_if_owner, calls = ImportJob.update_if_owner, []

    def killing(*args, **changes):
        calls.append(changes)
        if when == "after":
            update_if_owner(*args, **changes)
        if len(calls) == moment + 1:
            raise Killed
        if when == "before":
            update_if_owner(*args, **changes)

    with monkeypatch.context() as deadly:
        deadly.setattr(ImportJob, "update_if_owner", killing)
        try:
            run_job(job.pk)
        except Killed:
            lease_runs_out(job)
    run_job(job.pk)

    assert counts(job) == EXPECTED
    assert job.status == Status.SUCCEEDED_WITH_ERRORS
    assert Variant.objects.count() == 10
    assert Variant.objects.get(sku="A-0").title == "again"
    assert job.rejects.count() == 2
    assert Event.objects.filter(import_id=job.pk, type="import.started").count() == 1
    assert not StagingTable(job.pk).exists()


def test_a_paused_worker_that_wakes_up_changes_nothing(job, monkeypatch):
    land_range, seen = batches.land_range, []

    def overtaken(context, *args):
        seen.append(1)
        result = land_range(context, *args)
        if len(seen) == 2:  # as if the worker paused here, and another worker took the job
            context.job.owner = "somebody who had it once"
        return result

    monkeypatch.setattr("imports.pipeline.batches.land_range", overtaken)

    run_job(job.pk)

    job.refresh_from_db()
    assert (job.status, len(seen)) == (Status.RUNNING, 2)
    assert Variant.objects.count() == job.created < 10


def test_a_job_with_a_living_worker_is_not_taken(job):
    assert claim(job.pk, "one") is not None
    assert claim(job.pk, "two") is None
    lease_runs_out(job)
    assert claim(job.pk, "two") is not None


def test_a_staging_table_that_a_crash_of_the_database_emptied_is_filled_again(job, monkeypatch):
    update_if_owner, calls = ImportJob.update_if_owner, []

    def killing(*args, **changes):
        update_if_owner(*args, **changes)
        calls.append(changes)
        if len(calls) == 3:
            raise Killed

    with monkeypatch.context() as deadly:
        deadly.setattr(ImportJob, "update_if_owner", killing)
        with pytest.raises(Killed):
            run_job(job.pk)
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {StagingTable(job.pk).name}")
    lease_runs_out(job)

    run_job(job.pk)

    assert counts(job) == EXPECTED
    assert job.rejects.count() == 2


def test_a_lost_connection_leaves_the_job_to_the_sweep(job, monkeypatch, woken):
    def gone(*args):
        raise OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as broken:
        broken.setattr("imports.pipeline.batches.land_range", gone)
        run_job(job.pk)
    job.refresh_from_db()
    assert job.status == Status.RUNNING
    lease_runs_out(job)
    woken.clear()

    sweeping.wake_waiting()

    assert woken == [job.pk]
    run_job(job.pk)
    assert counts(job) == EXPECTED


def test_a_file_that_kills_its_workers_is_given_up(job, monkeypatch):
    def die(*args):
        raise Killed

    monkeypatch.setattr("imports.pipeline.batches.land_range", die)
    for _ in range(5):
        with pytest.raises(Killed):
            run_job(job.pk)
        lease_runs_out(job)
    run_job(job.pk)

    job.refresh_from_db()
    assert (job.status, job.error["code"]) == (Status.FAILED, "gave_up")


def test_a_request_succeeds_even_if_no_worker_can_be_woken(acme, client_for, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(settings, "UPLOADS_DIR", settings.UPLOADS_DIR)

    def unreachable(*args, **kwargs):
        asked.append(args)
        raise ConnectionError("Redis is not there")

    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr("celery.canvas.Signature.apply_async", unreachable)
    monkeypatch.setattr(leased, "_paused_until", 0.0)

    wake.wake(1)
    wake.wake(2)

    assert [args[-1] for args in asked] == [(1,)], (
        "after a failure, no worker is woken for a while: the sweep finds the job"
    )


def test_the_sweep_wakes_the_first_waiting_job_of_each_supplier_and_kind(acme, rival, client_for, woken):
    def start(supplier):
        return client_for(supplier).post("importProducts", {"data": ROWS}).json()["id"]

    first, _, other = start(acme), start(acme), start(rival)
    woken.clear()

    assert sweeping.wake_waiting() == 2
    assert woken == [first, other]


def uploaded(supplier, path, content, **fields):
    target = area_of(supplier) / path
    target.unlink(missing_ok=True)
    target.write_text(content)
    return UploadFactory.create(supplier=supplier, path=path, **fields)


def test_an_uploaded_file_is_imported_by_itself_with_the_saved_mapping(acme, rival, client_for):
    saved = client_for(acme).put("autoImports/products", {"field_mapping": ["Name:title"]})
    assert saved.json()["enabled"] is True
    for supplier in (acme, rival):
        uploaded(supplier, "products/spring.csv", "sku,Name,retail_price\nA-1,Shirt,1\n")
    uploaded(acme, "products/notes.pdf", "no")
    uploaded(acme, "inventory/stock.csv", "sku,quantity\nA-1,1\n")

    assert sweeping.take_uploads() == 1
    assert sweeping.take_uploads() == 0

    job = ImportJob.objects.get()
    assert (job.supplier, job.source, job.created_by) == (acme, "products/spring.csv", "system:auto-import")
    run_job(job.pk)
    assert Variant.objects.get().title == "Shirt"


def test_an_empty_file_is_not_imported_before_its_client_had_time_to_fill_it(acme, client_for):
    """Many clients make an empty file first, and open it again to write it."""
    client_for(acme).put("autoImports/products", {})
    uploaded(acme, "products/spring.csv", "", size=0)
    assert sweeping.take_uploads() == 0

    uploaded(acme, "products/spring.csv", "sku,title,retail_price\nA-1,Shirt,1\n")
    assert sweeping.take_uploads() == 1
    Upload.objects.update(uploaded_at=timezone.now() - timedelta(minutes=2))
    assert sweeping.take_uploads() == 0  # the second upload replaced the empty file
    assert not Upload.objects.filter(swept_at=None).exists()


def test_a_file_that_stays_empty_is_reported(acme, client_for):
    client_for(acme).put("autoImports/products", {})
    uploaded(acme, "products/spring.csv", "", size=0)
    Upload.objects.update(uploaded_at=timezone.now() - timedelta(minutes=2))

    assert sweeping.take_uploads() == 1
    run_job(ImportJob.objects.get().pk)
    assert ImportJob.objects.get().status == Status.FAILED


@pytest.mark.parametrize("kind", ["products", "inventory"])
@pytest.mark.parametrize("name", ["active", "is_active", "paused"])
def test_a_wrong_name_of_enabled_switches_nothing_on(acme, client_for, kind, name):
    answer = client_for(acme).put(f"autoImports/{kind}", {name: False})

    [fault] = answer.json()["errors"]
    assert (answer.status_code, fault["field"]) == (400, name)
    assert fault["message"] == "Unknown field. Did you mean enabled?"
    assert not AutoImport.objects.exists()


def test_automatic_stock_imports_can_be_switched_on_and_off(acme, a_variant, client_for):
    a_variant(acme, "A-1")
    client, east = client_for(acme), Warehouse.objects.get(supplier=acme, is_default=True)
    client.put("autoImports/inventory", {"warehouse_id": east.pk})
    uploaded(acme, "inventory/stock.csv", "sku,quantity\nA-1,9\n")
    sweeping.take_uploads()
    run_job(ImportJob.objects.get().pk)
    assert StockLevel.objects.get().on_hand == 9

    client.put("autoImports/inventory", {"warehouse_id": east.pk, "enabled": False})
    uploaded(acme, "inventory/stock.csv", "sku,quantity\nA-1,1\n")

    assert sweeping.take_uploads() == 0
    assert AutoImport.objects.get().enabled is False
    assert client.get("autoImports/products").json() == {"kind": "products", "enabled": False, "options": {}}


def test_every_upload_area_has_templates(acme, client_for):
    folder = made_folder(("templates",))
    assert folder is not None
    for kind in ("products", "inventory"):
        served = client_for(acme).get(f"templates/{kind}.csv").content
        assert folder.file(acme.pk, ("templates", f"{kind}.csv")).content == served
        assert len(served.decode().splitlines()) == 3


def test_tables_without_a_job_are_removed(job, django_capture_on_commit_callbacks):
    with connection.cursor() as cursor:
        cursor.execute("CREATE UNLOGGED TABLE imports_staging_999999 (line bigint)")
    with django_capture_on_commit_callbacks(execute=True):
        run_job(job.pk)

    sweeping.tidy()

    assert not StagingTable(999999).exists()
    job.refresh_from_db()
    assert job.blob is None
    Blob.objects.update(unused_at=timezone.now() - timedelta(hours=2))
    collect()
    assert not Blob.objects.exists()


@pytest.mark.fault
@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_for_real_again_and_again_loses_no_row(tmp_path):
    lines = "".join(f"A-{i},x,1\n" for i in range(20_000))
    job = ImportJobFactory.create(blob=contents.write([f"sku,title,retail_price\n{lines}".encode()]))
    url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**connection.settings_dict)
    environment = {**os.environ, "DATABASE_URL": url, "UPLOADS_DIR": str(settings.UPLOADS_DIR)}
    code = (
        "import django; django.setup(); from imports.pipeline import batches, job_runner;"
        f" batches.STEP = 500; job_runner.run_job({job.pk})"
    )
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"

    bookmarks: list[int] = []
    for _ in range(4):
        worker = subprocess.Popen([sys.executable, "-c", code], env=environment)
        deadline, seen = time.monotonic() + 120, len(bookmarks) and bookmarks[-1]
        while worker.poll() is None and time.monotonic() < deadline:
            job.refresh_from_db()
            if job.bookmark > seen + 1000:
                break
            time.sleep(0.005)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        job.refresh_from_db()
        bookmarks.append(job.bookmark)
        lease_runs_out(job)

    run_job(job.pk)

    job.refresh_from_db()
    assert bookmarks == sorted(bookmarks)
    assert 0 < bookmarks[0] < bookmarks[-1]
    assert (job.status, job.created, job.unchanged) == (Status.SUCCEEDED, 20_000, 0)
    assert Variant.objects.count() == 20_000

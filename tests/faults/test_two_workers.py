"""Beats and workers of two hosts: a tick runs once, and the job of a frozen worker continues."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from unittest import mock

import pytest
from django.conf import settings as django_settings
from django.db import connection

from accounts.models import Supplier
from catalog.models import Variant
from config.celery import app
from events.models import Delivery, Event
from events.webhooks.relay import relay
from imports import sweeping
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from tests.factories import AutoImportFactory, UploadFactory, WebhookFactory
from tests.faults.conftest import database_url
from tests.interleaving import meeting_after
from tests.orders.push_bodies import an_order
from tests.upload_area import area_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

UPLOADS = 12
ROWS = 6_000
WORKER = """
import sys, django
django.setup()
from imports.pipeline import batches
batches.STEP = 10  # a range of the file at a time: it is frozen in the midst of them
from imports.pipeline.job_runner import run_job
run_job(int(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def _nobody_is_woken(settings, tmp_path: Path) -> Iterator[None]:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()
    with mock.patch("imports.wake.wake"):
        yield


def at_once(works: Sequence[Callable[[], object]]) -> None:
    """Run each function in its own thread with its own connection, all at the same time."""
    together = Barrier(len(works))

    def do(work: Callable[[], object]) -> None:
        together.wait()
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(do, work) for work in works]:
            done.result()


def uploaded(supplier: Supplier) -> list[str]:
    """Upload files that are imported automatically, and return their paths."""
    AutoImportFactory.create(supplier=supplier, enabled=True, options={})
    paths = [f"products/{number}.csv" for number in range(UPLOADS)]
    for number, path in enumerate(paths):
        (area_of(supplier) / path).write_text(f"sku,title,retail_price\nN-{number},Shirt,1\n")
        UploadFactory.create(supplier=supplier, path=path)
    return paths


@pytest.mark.parametrize(("locking", "times"), [(True, 1), (False, 2)])
def test_files_that_two_beats_see_at_once_are_imported_once(acme, locking, times):
    """Control: without the lock, both workers import each file."""
    paths = uploaded(acme)
    with meeting_after(sweeping, "_automatic", locking=locking):
        at_once([sweeping.take_uploads, sweeping.take_uploads])
    sources = Counter(ImportJob.objects.values_list("source", flat=True))
    assert sources == Counter(dict.fromkeys(paths, times))


def test_ticks_of_two_beats_at_once_do_each_thing_once(acme, shop, a_variant, client_for):
    a_variant(acme, "A-1", stock=100)
    paths = uploaded(acme)
    WebhookFactory.create(retailer=shop)
    for _ in range(5):
        assert client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 1})).status_code == 201

    app.loader.import_default_modules()
    ticks = [app.tasks[each["task"]] for each in django_settings.CELERY_BEAT_SCHEDULE.values()]
    for tick in ticks:
        at_once([tick, tick])
    at_once([relay, relay])
    relay()

    sources = Counter(ImportJob.objects.values_list("source", flat=True))
    assert sources == Counter(dict.fromkeys(paths, 1))
    numbers = [*Event.objects.values_list("number", flat=True)]
    assert None not in numbers
    assert len({*numbers}) == len(numbers)
    heard = Event.objects.filter(retailer=shop, area__in=("fulfillments", "orders"))
    assert Counter(Delivery.objects.values_list("event_id", flat=True)) == Counter(
        heard.values_list("number", flat=True)
    )


def test_a_frozen_process_loses_its_job_and_does_no_harm(acme, client_for, settings):
    lines = ["sku,title,retail_price", *(f"F-{number},Shirt,{number}.5" for number in range(ROWS))]
    job = ImportJob.objects.get(pk=client_for(acme).post("importProducts", {"data": lines}).json()["id"])
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "UPLOADS_DIR": str(settings.UPLOADS_DIR),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(job.pk)], cwd=settings.BASE_DIR, env=environment
    )
    try:
        wait_until_it_has_begun(job, worker)
        worker.send_signal(signal.SIGSTOP)
        take_over(job)
        done = outcome(job)
        worker.send_signal(signal.SIGCONT)
        worker.wait(60)
    finally:
        worker.kill()
        worker.wait()

    assert done == (Status.SUCCEEDED, ROWS, ROWS)
    assert outcome(job) == done
    assert Variant.objects.filter(sku__startswith="F-").count() == ROWS
    names = Counter(Event.objects.filter(import_id=job.pk).values_list("type", flat=True))
    assert set(names.values()) == {1}, names


def wait_until_it_has_begun(job: ImportJob, worker: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while ImportJob.objects.get(pk=job.pk).rows_done == 0:
        assert worker.poll() is None, "the worker ended before it could be frozen"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def take_over(job: ImportJob) -> None:
    """Claim repeatedly, like the sweep, until the lease of the other worker ends."""
    deadline = time.monotonic() + 120
    while not run_job(job.pk):
        assert time.monotonic() < deadline
        time.sleep(0.2)


def outcome(job: ImportJob) -> tuple[str, int, int]:
    job.refresh_from_db()
    return job.status, job.created, job.rows_done

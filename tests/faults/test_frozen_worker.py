"""Another worker continues the job of a worker that froze within a transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from unittest import mock

import pytest
from django.db import DatabaseError, connection, transaction

from catalog.models import Variant
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from imports.pipeline.lease import claim

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

ROWS = ["sku,title,retail_price", "A-1,Shirt,9.99", "A-2,Shirt,9.99"]


@pytest.fixture
def job(acme, client_for, settings, tmp_path) -> Iterator[ImportJob]:
    settings.UPLOADS_DIR = tmp_path
    with mock.patch("imports.wake.wake"):
        answer = client_for(acme).post("importProducts", {"data": ROWS})
        yield ImportJob.objects.get(pk=answer.json()["id"])


@contextmanager
def frozen_worker(job: ImportJob, monkeypatch) -> Iterator[list[str]]:
    """Run a worker that freezes with its job's row locked. Yield a list that gets the worker's result."""
    frozen, thaw = threading.Event(), threading.Event()
    outcome: list[str] = []

    def work() -> None:
        try:
            mine = claim(job.pk, "elsewhere:1:frozen")
            assert mine is not None
            with transaction.atomic():
                mine.update_if_owner(bookmark=9)
                frozen.set()
                thaw.wait(60)
                mine.update_if_owner(bookmark=10)
            outcome.append("went on")
        except DatabaseError:
            outcome.append("lost its session")
        finally:
            frozen.set()
            connection.close()

    # Make the lease end at once, as if the worker were frozen for longer than the lease.
    monkeypatch.setattr(ImportJob, "LEASE", timedelta(seconds=-1))
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(work)
        assert frozen.wait(60)
        try:
            yield outcome
        finally:
            thaw.set()
            worker.result()


def test_the_next_worker_ends_the_former_session_and_continues(job, monkeypatch):
    with frozen_worker(job, monkeypatch) as outcome:
        monkeypatch.undo()
        assert run_job(job.pk)

    job.refresh_from_db()
    assert outcome == ["lost its session"]
    assert (job.status, job.created) == (Status.SUCCEEDED, 2)
    assert Variant.objects.count() == 2


def test_without_the_timeout_no_worker_could_take_the_job(job, monkeypatch):
    """Control: the transaction of the frozen worker still locks the job's row."""
    with frozen_worker(job, monkeypatch) as outcome:
        monkeypatch.setattr("imports.pipeline.lease._end_session_of_last_owner", lambda job_id: None)
        assert not run_job(job.pk)

    assert outcome == ["went on"]

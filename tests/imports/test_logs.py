"""The actor of an import is in each of its events and log lines. One log line has the result."""

from __future__ import annotations

import logging

import pytest

from api import request_id
from events.models import Event
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from tests.upload_area import area_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path, monkeypatch):
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", lambda job_id: None)


@pytest.fixture
def job(acme, client_for):
    (area_of(acme) / "products/new.csv").write_text("sku,title\nA-1,Lantern\n,Nameless\n")
    body = {"url": "products/new.csv"}
    answer = client_for(acme).post("importProducts", body, X_Request_Id="call-77")
    assert answer.status_code == 201, answer.content
    return ImportJob.objects.get(pk=answer.json()["id"])


def test_all_events_of_an_import_name_the_request_that_began_it(job):
    request_id.begin("task-of-a-worker")
    run_job(job.pk)

    named = Event.objects.filter(import_id=job.pk).values_list("type", "request_id")
    assert dict(named) == dict.fromkeys(["import.queued", "import.started", "import.succeeded"], "call-77")
    assert request_id.current_request_id() == "task-of-a-worker"


def test_an_ended_import_is_one_log_line(job, caplog, django_capture_on_commit_callbacks):
    with (
        caplog.at_level(logging.INFO, logger="exchange.import"),
        django_capture_on_commit_callbacks(execute=True),
    ):
        run_job(job.pk)

    (line,) = [record for record in caplog.records if record.name == "exchange.import"]
    assert line.getMessage().startswith(
        f"import {job.pk} of products succeeded_with_errors: 2 rows, 2 rejected"
    )
    assert (line.import_id, line.kind, line.rows, line.rejected) == (job.pk, "products", 2, 2)

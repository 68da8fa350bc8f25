"""Imports that people approve, cancel or start again while another import of the supplier runs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.models import Variant
from imports.models import ImportJob
from imports.pipeline.approval_rule import waits_for_approval
from imports.pipeline.job_runner import run_job
from imports.pipeline.preparation import prepare as prepare_job


@pytest.fixture
def api(acme, client_for):
    client = client_for(acme)
    client.put("importPolicy", {"price_factor": "1.1"})
    return client


@pytest.fixture
def older(acme, api, ran):
    """Import a price, and let a file with a much higher price wait for approval."""
    ran(acme, data=["sku,title,retail_price", "LAMP,Lamp,1"])
    job = ran(acme, data=["sku,title,retail_price", "LAMP,Lamp,9"])
    assert job["status"] == "awaiting_approval"
    return job["id"]


@pytest.fixture
def newer(api, older):
    """Start a newer import with another price, which waits for a worker."""
    return api.post("importProducts", {"data": ["sku,title,retail_price", "LAMP,Lamp,1.05"]}).json()["id"]


def test_an_import_whose_worker_died_goes_on_before_an_older_one_that_was_approved(api, older, newer):
    long_ago = timezone.now() - timedelta(minutes=10)
    ImportJob.objects.filter(pk=newer).update(status="running", owner="dead", lease_until=long_ago)
    assert api.post(f"imports/{older}/approve").json()["status"] == "queued"

    assert run_job(newer)
    assert ImportJob.objects.get(pk=newer).status == "succeeded"


def test_an_import_that_is_approved_while_a_newer_one_runs_is_superseded(api, older, newer, monkeypatch):
    def prepare(*arguments):
        assert api.post(f"imports/{older}/approve").json()["status"] == "queued"
        return prepare_job(*arguments)

    monkeypatch.setattr("imports.pipeline.job_runner.prepare", prepare)
    assert run_job(newer)
    assert not run_job(older)

    assert api.get(f"imports/{older}").json()["error"]["code"] == "superseded"
    assert str(Variant.objects.get().retail_price) == "1.0500"


def test_an_import_that_is_canceled_before_it_would_wait_for_approval_stops(acme, api, ran, monkeypatch):
    def decide(context, importer):
        assert api.post(f"imports/{context.job.pk}/cancel").json()["status"] == "running"
        return waits_for_approval(context, importer)

    ran(acme, data=["sku,title,retail_price", "LAMP,Lamp,1"])
    monkeypatch.setattr("imports.pipeline.job_runner.waits_for_approval", decide)

    job = ran(acme, data=["sku,title,retail_price", "LAMP,Lamp,9"])

    assert job["status"] == "canceled"


def test_an_approved_import_that_was_canceled_cannot_be_approved_again(api, older):
    for path in ("approve", "approve", "cancel"):
        assert api.post(f"imports/{older}/{path}").status_code == 200

    answer = api.post(f"imports/{older}/approve")

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
    assert "is canceled and cannot be approved" in answer.json()["message"]


def test_an_approval_that_is_sent_again_after_the_import_changes_nothing(api, older):
    api.post(f"imports/{older}/approve")
    assert run_job(older)

    assert api.post(f"imports/{older}/approve").json()["status"] == "succeeded"

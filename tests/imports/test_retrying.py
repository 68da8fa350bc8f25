"""Jobs that run a second time: from the start of their file, with new times and counters."""

from __future__ import annotations

import base64
import threading
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.actors import Actor, ActorKind
from catalog.models import Variant
from imports import sweeping
from imports.fetching import fetch_file
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from sftp_ingest.area import contents
from sftp_ingest.models import Blob
from sftp_ingest.remote.connection import RemoteFailed
from tests.factories import ImportJobFactory, RemoteHostFactory
from tests.interleaving import race, waiting

URL = "sftp://files.acme.example/out/spring.csv"
KEY = "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + b"k" * 32).decode()


@pytest.fixture
def remote(acme, monkeypatch):
    """Register Acme's own host. It is down until the test changes the returned list."""
    RemoteHostFactory.create(supplier=acme, host="files.acme.example", host_key=KEY)
    answers = ["down"]

    def fetch(supplier, url: str, **_: object) -> Blob:
        if answers[0] == "down":
            raise RemoteFailed("remote_unreachable", "files.acme.example does not answer.")
        return contents.write([b"sku,title,retail_price\nA-1,Shirt,1\n"])

    monkeypatch.setattr("imports.fetching.fetch", fetch)
    return answers


def test_a_job_whose_host_was_down_is_retried_when_it_is_up_again(acme, client_for, ran, remote):
    failed = ran(acme, file_url=URL)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "remote_unreachable")
    remote[0] = "up"

    client = client_for(acme)
    assert client.post(f"imports/{failed['id']}/retry").json()["status"] == "queued"
    assert fetch_file(failed["id"])
    run_job(failed["id"])

    again = client.get(f"imports/{failed['id']}").json()
    assert (again["status"], again["created"], again["error"]) == ("succeeded", 1, None)
    assert Variant.objects.get().sku == "A-1"


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_a_retried_job_keeps_its_file_while_old_files_are_deleted(acme):
    long_ago = timezone.now() - 2 * sweeping.KEPT
    blob = contents.write([b"sku,title,retail_price\nA-1,Shirt,1\n"])
    job = ImportJobFactory.create(supplier=acme, status=Status.FAILED, finished_at=long_ago, blob=blob)
    begun = threading.Event()

    def retry():
        with transaction.atomic():
            ImportJob.objects.get(pk=job.pk).retry(by=Actor(ActorKind.OPERATOR, "user:olga"))
            begun.set()
            waiting(1)

    def tidy():
        assert begun.wait(60)
        sweeping.tidy()

    race(retry, tidy)

    job.refresh_from_db()
    assert (job.status, job.blob) == (Status.QUEUED, blob)


@pytest.mark.parametrize("file", ["", ".jobs/of-a-job-from-before-there-were-blobs.csv"])
def test_a_job_without_its_file_cannot_be_retried_and_stays_failed(acme, client_for, ran, file):
    failed = ran(acme, data=["sku,sku", "a,b"])
    ImportJob.objects.get(pk=failed["id"]).release_content()
    ImportJob.objects.update(file=file)
    client = client_for(acme)

    answer = client.post(f"imports/{failed['id']}/retry")

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
    assert "no longer stored" in answer.json()["message"]
    assert client.get(f"imports/{failed['id']}").json()["status"] == "failed"


def test_a_second_run_has_its_own_start_time(acme, client_for, ran):
    failed = ran(acme, data=["sku,sku", "a,b"])
    long_ago = timezone.now() - timedelta(days=2)
    ImportJob.objects.filter(pk=failed["id"]).update(started_at=long_ago)
    client = client_for(acme)

    waiting = client.post(f"imports/{failed['id']}/retry").json()
    assert (waiting["started_at"], waiting["rows_per_second"], waiting["seconds_left"]) == (None, None, None)
    run_job(failed["id"])

    assert ImportJob.objects.filter(pk=failed["id"], started_at__gt=long_ago + timedelta(days=1)).exists()


@pytest.mark.parametrize("status", [Status.QUEUED, Status.AWAITING_APPROVAL])
def test_a_waiting_job_has_no_pace(acme, client_for, status):
    job = ImportJobFactory.create(
        supplier=acme,
        status=status,
        started_at=timezone.now() - timedelta(hours=3),
        rows_total=100,
        rows_done=7,  # these rows were rejected while the file was read
    )

    shown = client_for(acme).get(f"imports/{job.pk}").json()

    assert (shown["rows_per_second"], shown["seconds_left"]) == (None, None)

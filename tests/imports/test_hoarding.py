"""The storage of a supplier is limited, and a refusal names the limit."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from imports import job_files
from imports.models import ImportJob, Reject
from sftp_ingest.blobs.local import LocalWriter
from sftp_ingest.models import Blob

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = ["sku,title,retail_price", "A-1,Shirt,1"]


def test_jobs_that_wait_count_against_a_quota_of_files(acme, rival, client_for, monkeypatch):
    monkeypatch.setattr(job_files, "MOST_FILES", 2)
    client = client_for(acme)
    first = client.post("importProducts", {"data": ROWS}).json()["id"]
    assert client.post("importProducts", {"data": ROWS}).status_code == 201

    full = client.post("importProducts", {"data": ROWS})

    assert (full.status_code, full.json()["code"]) == (409, "quota_exceeded")
    assert client_for(rival).post("importProducts", {"data": ROWS}).status_code == 201
    client.post(f"imports/{first}/cancel")
    assert client.post("importProducts", {"data": ROWS}).status_code == 201


def test_jobs_that_wait_count_against_a_quota_of_bytes(acme, client_for, monkeypatch):
    monkeypatch.setattr(job_files, "MOST_BYTES", 10)
    client = client_for(acme)
    assert client.post("importProducts", {"data": ROWS}).status_code == 201

    assert client.post("importProducts", {"data": ROWS}).json()["code"] == "quota_exceeded"


def test_a_full_disk_is_503_and_leaves_nothing(acme, client_for, monkeypatch, settings):
    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(LocalWriter, "write", full)
        answer = client_for(acme).post("importProducts", {"data": ROWS})

    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert not ImportJob.objects.exists()
    assert not Blob.objects.exists()
    assert [path for path in settings.UPLOADS_DIR.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("rows", [["bad"] * 9, ["A-1,,1"] * 5 + ["B-1,,x"] * 4], ids=["ragged", "wrong"])
def test_rejects_are_kept_up_to_a_number_and_the_csv_says_that_there_are_more(
    acme, client_for, ran, monkeypatch, rows
):
    for module in ("rejects", "staging"):
        monkeypatch.setattr(f"imports.pipeline.{module}.MOST_KEPT", 3)
    numbered = [f"{number}{row}" for number, row in enumerate(rows)]

    job = ran(acme, data=["sku,title,retail_price", *numbered, "OK,Shirt,1"])

    assert (job["rejected"], job["created"]) == (9, 1)
    assert Reject.objects.count() == 3
    lines = client_for(acme).get(f"imports/{job['id']}/errors").getvalue().decode().splitlines()
    assert len(lines) == 5
    assert "6 more rows were rejected" in lines[-1]

"""The storage of a supplier is limited, and a refusal names the limit."""

from __future__ import annotations

import errno
from contextlib import suppress
from typing import Any

import pytest

from imports import job_files
from imports.models import ImportJob, Reject
from sftp_ingest.area import contents, quota
from sftp_ingest.area.files import Area
from sftp_ingest.blobs.local import LocalWriter
from sftp_ingest.errors import Refused
from sftp_ingest.models import Blob, OpenUpload
from tests.factories import ImportJobFactory, SftpLoginFactory
from tests.interleaving import meeting_after, race

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


def test_lines_of_a_request_count_against_the_one_quota_of_the_party(acme, rival, client_for, upload):
    size = sum(len(row) + 1 for row in ROWS)
    SftpLoginFactory.create(supplier=acme, quota_bytes=2 * size + 10)
    client = client_for(acme)
    upload(acme, "x" * size, "products/a.csv")
    before = quota.used(acme.pk)
    waiting = client.post("importProducts", {"data": ROWS}).json()["id"]

    assert quota.used(acme.pk) == before + size
    full = client.post("importProducts", {"data": ROWS}).json()
    assert full["code"] == "quota_exceeded"
    assert f"{2 * size} of {2 * size + 10} bytes" in full["message"]
    assert client_for(rival).post("importProducts", {"data": ROWS}).status_code == 201
    client.post(f"imports/{waiting}/cancel")
    assert quota.used(acme.pk) == before


def test_waiting_imports_leave_less_room_for_uploads(acme, client_for):
    login = SftpLoginFactory.create(supplier=acme, quota_bytes=100)
    area = Area(acme.pk)
    area.prepare()
    client_for(acme).post("importProducts", {"data": ROWS})
    blob, writer = contents.begin()
    writer.discard()
    upload = OpenUpload(blob=blob, supplier=acme, login=login, path="products/a.csv", holder="it")
    upload.save(force_insert=True)

    with pytest.raises(Refused, match="area is full"):
        quota.reserve(upload, 90, login.quota_bytes)
    quota.reserve(upload, 50, login.quota_bytes)


def test_a_file_of_the_area_counts_once_however_many_imports_keep_it(acme, client_for, upload):
    upload(acme, "\n".join(ROWS), "products/a.csv")
    before = quota.used(acme.pk)
    for _ in range(2):
        client_for(acme).post("importProducts", {"file_url": "products/a.csv"})
    assert quota.used(acme.pk) == before

    Area(acme.pk).remove(("products", "a.csv"))

    assert quota.used(acme.pk) == before


@pytest.mark.race
@pytest.mark.parametrize(("locked", "stored"), [(True, 1), (False, 2)])
def test_two_requests_do_not_share_the_last_bytes(acme, locked, stored):
    SftpLoginFactory.create(supplier=acme, quota_bytes=10)
    Area(acme.pk).prepare()

    def store() -> None:
        with suppress(job_files.QuotaExceeded), job_files.room_for(acme, 8):
            blob = contents.write([b"12345678"])
            ImportJobFactory.create(supplier=acme, blob=blob)

    with meeting_after(job_files, "refuse_hoarding", locking=locked):
        race(store, store)

    assert ImportJob.objects.count() == stored


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

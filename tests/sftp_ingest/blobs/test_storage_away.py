"""A missing, slow or full storage is reported, and no incomplete file appears."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paramiko
import pytest
from django.db.models.functions import Now

from accounts.models import Supplier
from imports import job_files
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from sftp_ingest.area.files import Area
from sftp_ingest.blobs import bucket
from sftp_ingest.blobs.bucket import Bucket
from sftp_ingest.blobs.s3 import S3Store
from sftp_ingest.management.commands import sftp_server
from sftp_ingest.models import OpenUpload, Upload
from tests.factories import ImportJobFactory
from tests.sftp_ingest.conftest import put
from tests.upload_area import AreaPath

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

PATH = "products/a.csv"


@pytest.fixture
def silent() -> Iterator[int]:
    """Yield the port of a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture(params=["away", "slow", "refuses"])
def broken_url(
    request: pytest.FixtureRequest, uploads_url: str, silent: int, monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.setattr(bucket, "TIMEOUT", 0.3)
    monkeypatch.setattr(bucket, "ATTEMPTS", 1)
    if request.param == "refuses":
        return uploads_url.replace("@uploads/", "@another/")
    port = silent if request.param == "slow" else 1
    return f"s3://a:b@uploads/test?endpoint=http://127.0.0.1:{port}&region=us-east-1"


def test_an_upload_is_refused_in_words_and_the_former_version_stays(
    uploads_url: str, broken_url: str, settings: Any, acme_sftp: paramiko.SFTPClient, acme_area: AreaPath
):
    settings.UPLOADS_URL = uploads_url
    put(acme_sftp, b"former\n", PATH)
    settings.UPLOADS_URL = broken_url
    with pytest.raises(OSError, match="storage of uploads does not answer at the moment"):
        put(acme_sftp, b"sku\n", PATH)
    with pytest.raises(OSError, match="storage of uploads does not"):
        acme_sftp.open(PATH).read()

    settings.UPLOADS_URL = uploads_url
    assert (acme_area / PATH).read_bytes() == b"former\n"
    assert not OpenUpload.objects.exists()
    put(acme_sftp, b"sku\n", PATH)
    assert (acme_area / PATH).read_bytes() == b"sku\n"
    assert Area(acme_area.supplier.pk).recalculate() == 0


def test_a_bucket_that_is_away_at_the_start_is_asked_until_it_answers(
    uploads_url: str, broken_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    away, there = Bucket(broken_url), Bucket(uploads_url)
    monkeypatch.setattr(sftp_server, "ASK_AGAIN_AFTER", 0.01)
    asked = iter([away, away, there])
    monkeypatch.setattr(S3Store, "bucket", property(lambda store: next(asked)))

    sftp_server.await_storage(S3Store(lambda: away, Path()))

    said = [(each.levelname, each.message) for each in caplog.records if "the storage of" in each.message]
    assert [level for level, _ in said] == ["ERROR", "ERROR", "WARNING"]
    assert said[-1][1] == "the storage of uploads answers again"


def test_a_full_disk_is_reported(acme_sftp: paramiko.SFTPClient, acme_area: AreaPath, monkeypatch):
    def full(*args: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match="disk of this service is full"):
            put(acme_sftp, b"sku\n", PATH)

    assert not (acme_area / PATH).exists()
    assert not Upload.objects.exists()
    put(acme_sftp, b"sku\n", PATH)


@pytest.mark.parametrize(
    ("attempts", "status", "code"), [(0, Status.RUNNING, None), (4, Status.FAILED, "storage_away")]
)
def test_an_import_without_storage_is_tried_again_and_fails_at_last(
    uploads_url: str,
    broken_url: str,
    settings: Any,
    acme: Supplier,
    attempts: int,
    status: Status,
    code: str | None,
):
    settings.UPLOADS_URL = uploads_url
    blob = job_files.keep_lines(acme, ["sku,title,retail_price", "A-1,Lamp,9.99"])
    job = ImportJobFactory.create(supplier=acme, kind="products", blob=blob, attempts=attempts)
    settings.UPLOADS_URL = broken_url
    run_job(job.pk)

    job.refresh_from_db()
    assert (job.status, job.error and job.error["code"]) == (status, code)
    settings.UPLOADS_URL = uploads_url
    ImportJob.objects.update(lease_until=Now())
    if not code:
        run_job(job.pk)
        job.refresh_from_db()
        assert (job.status, job.created) == (Status.SUCCEEDED, 1)

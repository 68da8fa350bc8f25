"""Stores of blobs: on the local disk, and in an S3-compatible server of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
import pytest
from django.conf import LazySettings
from moto.s3 import models as s3_limits
from moto.server import ThreadedMotoServer

from sftp_ingest.blobs import bucket, local, s3
from sftp_ingest.blobs.store import Store
from sftp_ingest.blobs.stores import store_for_new

PART = 128 * 1024
"""The size of a part.

S3 requires 5 MiB; these tests divide all sizes by 40, so that they send fewer bytes.
"""
SIZES = {(s3, "PART_SIZE"): PART, (s3, "READ_AHEAD"): PART * 4 // 5, (bucket, "CHUNK_SIZE"): PART // 5}
SESSION = boto3.session.Session()  # a new session would read the description of S3 again


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with mock.patch.object(s3_limits, "S3_UPLOAD_PART_MIN_SIZE", PART):
        yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def s3_client(s3_server: str) -> Any:
    """Create an empty bucket, and return an S3 client for the tests."""
    client: Any = SESSION.client(
        "s3",
        endpoint_url=s3_server,
        aws_access_key_id="a",
        aws_secret_access_key="b",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="uploads")
    return client


@pytest.fixture
def uploads_url(s3_server: str, s3_client: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    for (module, name), size in SIZES.items():
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(boto3.session, "Session", lambda: SESSION)
    for each in s3_client.list_objects_v2(Bucket="uploads").get("Contents", []):
        s3_client.delete_object(Bucket="uploads", Key=each["Key"])
    return f"s3://a:b@uploads/test?endpoint={s3_server}&region=us-east-1"


@pytest.fixture(params=["local", "s3"])
def store(
    request: pytest.FixtureRequest, settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Store:
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr(local, "CHUNK_SIZE", PART // 5)
    settings.UPLOADS_URL = request.getfixturevalue("uploads_url") if request.param == "s3" else ""
    return store_for_new()

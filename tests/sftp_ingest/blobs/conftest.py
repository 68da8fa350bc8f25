"""A local store, and one in an S3-compatible server of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.conf import LazySettings
from moto.server import ThreadedMotoServer

from sftp_ingest.blobs import s3
from sftp_ingest.blobs.store import Store
from sftp_ingest.blobs.stores import store_for_new

PART = 5 * 1024**2  # the least that the protocol knows


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def uploads_url(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(s3, "PART_SIZE", PART)
    client: Any = boto3.client(
        "s3",
        endpoint_url=s3_server,
        aws_access_key_id="a",
        aws_secret_access_key="b",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="uploads")
    for each in client.list_objects_v2(Bucket="uploads").get("Contents", []):
        client.delete_object(Bucket="uploads", Key=each["Key"])
    return f"s3://a:b@uploads/test?endpoint={s3_server}&region=us-east-1"


@pytest.fixture(params=["local", "s3"])
def store(request: pytest.FixtureRequest, settings: LazySettings, tmp_path: Path) -> Store:
    settings.UPLOADS_DIR = tmp_path
    settings.UPLOADS_URL = request.getfixturevalue("uploads_url") if request.param == "s3" else ""
    return store_for_new()

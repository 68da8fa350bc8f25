"""Two SFTP servers, each with a disk of its own, on one database and one S3-compatible storage."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import paramiko
import pytest
from django.conf import settings as django_settings
from django.db.models import F

from accounts.models import Supplier
from sftp_ingest.area.files import Area
from sftp_ingest.models import OpenUpload, Upload
from sftp_ingest.server.host_key import public_line
from sftp_ingest.tasks import collect
from tests.factories import SftpLoginFactory
from tests.faults.conftest import database_url
from tests.sftp_ingest.area.test_resuming import go_on
from tests.sftp_ingest.conftest import PASSWORD, at_once, put
from tests.upload_area import area_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

PATH = "products/large.csv"
LARGE = random.Random(3).randbytes(26 * 1024**2)


@dataclass
class Host:
    """A server process, and its address."""

    process: subprocess.Popen[str]
    port: int
    clients: ExitStack

    def connect(self) -> paramiko.SFTPClient:
        transport = self.clients.enter_context(paramiko.Transport(("127.0.0.1", self.port)))
        key = paramiko.Ed25519Key(data=base64.b64decode(public_line().split()[1]))
        transport.connect(key, "acme", PASSWORD)
        at_once(transport)
        client = paramiko.SFTPClient.from_transport(transport)
        assert client is not None
        return client

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def hosts(acme: Supplier, uploads_url: str, settings, tmp_path: Path) -> Iterator[list[Host]]:
    # The servers are other processes, which cannot read the fast password hash of the tests.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    SftpLoginFactory.create(supplier=acme, password=PASSWORD)
    settings.UPLOADS_URL = uploads_url
    public_line()
    with ExitStack() as stack:
        yield [_start(stack, uploads_url, tmp_path / name) for name in ("first", "second")]


def _start(stack: ExitStack, uploads_url: str, folder: Path) -> Host:
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "DATA_DIR": str(django_settings.DATA_DIR),
        "UPLOADS_DIR": str(folder),
        "UPLOADS_URL": uploads_url,
        "SFTP_HOST": "127.0.0.1",
        "SFTP_PORT": "0",
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, str(django_settings.BASE_DIR / "manage.py"), "sftp_server"]
    process = stack.enter_context(
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    )
    stack.callback(process.kill)
    assert process.stdout is not None
    return Host(process, int(process.stdout.readline().rpartition(":")[2]), stack.enter_context(ExitStack()))


def test_a_file_put_on_one_host_is_there_on_the_other(hosts: list[Host], acme: Supplier):
    first, second = (host.connect() for host in hosts)
    put(first, LARGE, PATH)
    second.rename(PATH, "products/spring.csv")
    kept = io.BytesIO()
    first.getfo("products/spring.csv", kept)

    assert kept.getvalue() == LARGE
    assert second.listdir("products") == ["spring.csv"]
    first.remove("products/spring.csv")
    assert second.listdir("products") == []
    assert Area(acme.pk).recalculate() == 0


def test_an_upload_of_a_killed_host_is_resumed_at_the_other(hosts: list[Host], acme: Supplier):
    first, second = hosts
    client = first.connect()
    file = client.open(PATH, "w")
    file.set_pipelined(pipelined=True)
    for start in range(0, len(LARGE) - 1000, 1024**2):
        file.write(LARGE[start : start + 1024**2])
    client.stat(PATH)
    first.kill()
    client = second.connect()

    assert client.listdir("products") == []
    with pytest.raises(FileNotFoundError):
        client.stat(PATH)  # the first host may only be slow, and still write the upload
    _pass(timedelta(minutes=1))
    came = client.stat(PATH).st_size
    assert came >= 8 * 1024**2
    assert not Upload.objects.exists()
    with pytest.raises(FileNotFoundError):
        client.open(PATH)
    go_on(client, LARGE, PATH)

    assert (area_of(acme) / PATH).read_bytes() == LARGE
    assert Upload.objects.get().sha256 == hashlib.sha256(LARGE).hexdigest()
    assert not OpenUpload.objects.exists()
    assert Area(acme.pk).recalculate() == 0


def test_an_upload_cut_on_one_host_continues_on_the_other(hosts: list[Host], acme: Supplier):
    first, second = hosts
    client, came = first.connect(), 17 * 1024**2 + 5
    file = client.open(PATH, "w")
    file.write(LARGE[:came])
    client.stat(PATH)
    first.process.send_signal(signal.SIGTERM)
    first.process.wait(60)
    client = second.connect()

    assert client.stat(PATH).st_size == came
    go_on(client, LARGE, PATH)
    assert (area_of(acme) / PATH).read_bytes() == LARGE


def test_a_new_put_does_not_wait_for_the_dead_host(hosts: list[Host], acme: Supplier, monkeypatch):
    first, second = hosts
    file = first.connect().open(PATH, "w")
    file.write(LARGE[: 10 * 1024**2])
    file.stat()
    first.kill()
    put(second.connect(), b"sku\n", PATH)
    assert (area_of(acme) / PATH).read_bytes() == b"sku\n"

    _pass(timedelta(days=2))
    collect()
    assert not OpenUpload.objects.exists()
    assert Area(acme.pk).recalculate() == 0


def test_a_frozen_host_does_not_finish_a_resumed_upload(hosts: list[Host], acme: Supplier):
    first, second = hosts
    frozen = first.connect()
    file = frozen.open(PATH, "w")
    file.write(LARGE[: 25 * 1024**2])
    file.stat()
    _pass(timedelta(minutes=1))
    go_on(second.connect(), LARGE, PATH)

    with pytest.raises(OSError, match="Another connection"):
        _close(frozen, file)
    assert (area_of(acme) / PATH).read_bytes() == LARGE
    assert Upload.objects.count() == 1


def _pass(time: timedelta) -> None:
    OpenUpload.objects.update(heard_at=F("heard_at") - time)


def _close(client: paramiko.SFTPClient, file: paramiko.SFTPFile) -> None:
    file._closed = True
    client._request(paramiko.sftp.CMD_CLOSE, file.handle)

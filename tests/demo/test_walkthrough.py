"""`make demo` runs one order through a real service, over HTTP and SFTP, as a client would."""

from __future__ import annotations

import io
import shutil
import socket
import threading
from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command

from config.celery import app
from orders.models import Order
from sftp_ingest.server.listener import SftpServer
from sftp_ingest.server.session import SessionLimits
from tools.demo import cast, credentials, sftp, walkthrough
from tools.demo.client import DemoError

pytestmark = pytest.mark.program


@pytest.fixture
def data_dir(settings, tmp_path):
    settings.DATA_DIR = settings.SECRETS_DIR = tmp_path
    settings.UPLOADS_DIR = tmp_path / "uploads"
    return tmp_path


@pytest.fixture
def service(transactional_db, live_server, settings, data_dir) -> Iterator[None]:
    """Run the whole service: real web and SFTP servers, and each task at once in this process."""
    server = SftpServer("127.0.0.1", 0, SessionLimits())
    thread = threading.Thread(target=server.serve)
    thread.start()
    app.loader.import_default_modules()  # load all tasks, because the service calls them by name
    app.conf.task_always_eager = True
    try:
        settings.BASE_URL, settings.SFTP_PORT = live_server.url, server.port
        cast.create()
        credentials.write()
        yield
    finally:
        app.conf.task_always_eager = False
        server.stop()
        thread.join(60)


def play() -> str:
    out = io.StringIO()
    call_command("demo", stdout=out, no_color=True)
    return out.getvalue()


def test_the_demo_plays_and_can_be_played_again(service):
    first, second = play(), play()
    assert [order.processing_state for order in Order.objects.all()] == ["completed", "completed"]
    for order in Order.objects.all():
        states = sorted(order.fulfillments.values_list("state", flat=True))
        assert states == ["out_of_stock", "shipped", "shipped"]
    assert "succeeded: 4 rows, 4 created" in first
    assert "succeeded: 4 rows, 4 unchanged" in second
    assert "rejected line" not in first
    assert "is completed, in parcels 1Z" in first
    assert "POST /v3/retailers/" in first


def test_without_openssh_the_files_go_by_paramiko(service, monkeypatch):
    monkeypatch.setattr("tools.demo.sftp.shutil.which", lambda name: None)
    assert "paramiko -P" in play()


def test_a_failed_step_ends_the_demo_and_is_named(service, monkeypatch):
    monkeypatch.setattr(walkthrough, "TRAY", "036000291452")  # order lanterns, by their UPC, instead of trays
    monkeypatch.setitem(walkthrough.CONSUMER, "country", "")
    with pytest.raises(CommandError) as failure:
        play()
    text = str(failure.value)
    assert "Shop pushes an order" in text
    assert "expected 201 order_created, got 400" in text
    assert "country" in text


def test_without_a_demo_json_it_names_the_remedy(data_dir):
    with pytest.raises(CommandError, match="make run"):
        play()


def test_without_a_service_it_names_the_remedy(db, settings, data_dir, monkeypatch):
    with socket.socket() as taken:  # the port is in use, but no server listens on it
        taken.bind(("127.0.0.1", 0))
        settings.BASE_URL = f"http://127.0.0.1:{taken.getsockname()[1]}"
        cast.create()
        credentials.write()
        monkeypatch.setattr(sftp, "put", lambda *given: "sftp")
        with pytest.raises(CommandError, match="no answer from .* Start the service with: make run"):
            play()


@pytest.mark.parametrize("find", [shutil.which, lambda _: None])
def test_without_an_sftp_server_the_upload_says_where_and_names_the_remedy(tmp_path, monkeypatch, find):
    monkeypatch.setattr("tools.demo.sftp.shutil.which", find)
    file = tmp_path / "a.csv"
    file.write_text("sku\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        area = sftp.UploadAreaLogin("127.0.0.1", taken.getsockname()[1], "ssh-ed25519 AAAA", "acme", "secret")
        with pytest.raises(DemoError, match=r"127\.0\.0\.1:\d+ failed: .* start it with: make run"):
            sftp.put(area, file, "products/a.csv")

"""A stranger with 64 connections and no key delays no other party with any shape of request."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from config.web.arrival import HEAD_SECONDS
from tests.factories import IssuedKeyFactory
from tests.faults.stranger_crowd import crowd
from tests.faults.stranger_shapes import SHAPES
from tests.faults.tenant import SOON, STRANGER, Tenant
from tests.faults.web_server import WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]


@pytest.fixture(scope="module")
def web(start_web: Callable[..., WebServer]) -> WebServer:
    return start_web(GUNICORN_CMD_ARGS="--max-requests 0")  # another test covers restarts


@pytest.mark.parametrize("name", SHAPES)
def test_a_stranger_delays_no_other_party(acme, web, name):
    _, secret = IssuedKeyFactory.create(party=acme)
    tenant = Tenant(web, f"/v3/suppliers/{acme.pk}/variants", secret)
    tenant.ask_beside(name)
    tenant.is_not_delayed()


def test_requests_of_strangers_restart_no_web_process(acme, start_web):
    web = start_web(GUNICORN_CMD_ARGS="--max-requests 20 --max-requests-jitter 0")
    _, secret = IssuedKeyFactory.create(party=acme)
    began_with = web.processes()

    for _ in range(60):
        assert web.ask("GET", "/admin/login/").status == 200
    assert web.processes() == began_with

    end = time.monotonic() + 60
    while began_with & web.processes():  # a known party's requests do restart the processes
        assert web.ask("GET", f"/v3/suppliers/{acme.pk}/variants", secret=secret).status == 200
        assert time.monotonic() < end


@pytest.mark.parametrize("name", ["no body", "unread bundle"])
def test_clients_of_a_stranger_do_not_delay_the_restart_of_a_web_process(acme, start_web, name):
    web = start_web(GUNICORN_CMD_ARGS="--max-requests 40 --max-requests-jitter 0 --graceful-timeout 60")
    _, secret = IssuedKeyFactory.create(party=acme)
    path = f"/v3/suppliers/{acme.pk}/variants"
    began_with = web.processes()

    with crowd(web.port, name, connections=8, source=STRANGER):
        answers = [web.ask("GET", path, secret=secret, timeout=90) for _ in range(60)]

    assert not began_with & web.processes()
    assert {answer.status for answer in answers} == {200}
    assert (
        max(answer.seconds for answer in answers) < HEAD_SECONDS
    )  # a stranger's request may take HEAD_SECONDS


def test_a_stranger_at_the_address_of_a_known_key_does_not_delay_its_party(acme, start_web):
    # a server of its own, because the server refuses new keys of this address afterwards
    web = start_web(WEB_THREADS="4")
    _, secret = IssuedKeyFactory.create(party=acme)
    path = f"/v3/suppliers/{acme.pk}/variants"
    assert web.ask("GET", path, secret=secret).status == 200

    with crowd(web.port, "ever-new wrong keys"):
        answers = [web.ask("GET", path, secret=secret) for _ in range(50)]

    assert {answer.status for answer in answers} == {200}
    assert max(answer.seconds for answer in answers) < SOON


def test_an_upload_folder_that_hangs_keeps_no_host_from_serving(acme, start_web, tmp_path):
    _, secret = IssuedKeyFactory.create(party=acme)
    os.mkfifo(Path(tmp_path, ".which"))  # a read of this file never ends
    web = start_web(UPLOADS_DIR=str(tmp_path))

    for _ in range(8):
        ready, status = web.ask("GET", "/readyz"), web.ask("GET", "/statusz", timeout=10)
        assert (ready.status, ready.json()["checks"]) == (200, {"database": "ok"})
        assert status.json()["checks"]["uploads"].startswith("has not answered for ")
        assert max(ready.seconds, status.seconds) < SOON + 1  # the check of the hanging folder waits 1 s
    assert web.ask("GET", f"/v3/suppliers/{acme.pk}/variants", secret=secret).status == 200

"""A stranger with 64 connections and no key delays no other party with any shape of request."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.factories import IssuedKeyFactory
from tests.faults.web_server import WebServer
from tools.bench.hostile.crowd import crowd
from tools.bench.hostile.shapes import SHAPES

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

SOON = 2.0  # seconds; a request that waits behind a stranger waits for five
SECONDS = 3.0
STRANGER = "127.0.0.2"


@pytest.fixture(scope="module")
def web(start_web: Callable[..., WebServer]) -> WebServer:
    return start_web(WEB_THREADS="4")


@pytest.mark.parametrize("name", SHAPES)
def test_a_stranger_delays_no_other_party(acme, web, name):
    _, secret = IssuedKeyFactory.create(party=acme)
    path = f"/v3/suppliers/{acme.pk}/variants"
    assert web.ask("GET", path, secret=secret).status == 200

    with crowd(web.port, name, source=STRANGER):
        end = time.monotonic() + SECONDS
        answers = []
        while time.monotonic() < end:
            answers += [web.ask("GET", path, secret=secret), web.ask("GET", "/readyz")]
            answers += [web.ask("GET", "/v3/schema"), web.ask("GET", "/healthz")]

    assert {answer.status for answer in answers} == {200}
    assert max(answer.seconds for answer in answers) < SOON


def test_a_stranger_at_the_address_of_a_known_key_does_not_delay_it(acme, start_web):
    web = start_web(WEB_THREADS="4")  # its own server, which then refuses new keys of this address
    _, secret = IssuedKeyFactory.create(party=acme)
    path = f"/v3/suppliers/{acme.pk}/variants"
    assert web.ask("GET", path, secret=secret).status == 200

    with crowd(web.port, "ever-new wrong keys"):
        answers = [web.ask("GET", path, secret=secret) for _ in range(50)]

    assert {answer.status for answer in answers} == {200}
    assert max(answer.seconds for answer in answers) < SOON


def test_an_upload_folder_that_hangs_keeps_no_host_from_serving(acme, start_web, tmp_path):
    _, secret = IssuedKeyFactory.create(party=acme)
    os.mkfifo(Path(tmp_path, ".which"))  # reading it takes for ever
    web = start_web(UPLOADS_DIR=str(tmp_path))

    for _ in range(8):
        ready, status = web.ask("GET", "/readyz"), web.ask("GET", "/statusz", timeout=10)
        assert (ready.status, ready.json()["checks"]) == (200, {"database": "ok"})
        assert status.json()["checks"]["uploads"].startswith("has not answered for ")
        assert max(ready.seconds, status.seconds) < SOON + 1  # one check waits for a second
    assert web.ask("GET", f"/v3/suppliers/{acme.pk}/variants", secret=secret).status == 200

"""Behind the proxies of deploy/, too, a stranger with 64 connections delays no other party."""

from __future__ import annotations

import time

import pytest

from tests.deploy.proxies import proxy
from tests.factories import IssuedKeyFactory
from tests.faults.web_server import WebServer
from tools.bench.hostile.crowd import crowd
from tools.bench.hostile.shapes import SHAPES

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault, pytest.mark.program]

SOON, SECONDS = 2.0, 3.0
STRANGER = "127.0.0.2"


@pytest.fixture(scope="module", params=["nginx", "haproxy"])
def behind(request, start_web, tmp_path_factory):
    """The port of a proxy before a host of four threads."""
    web = start_web(WEB_THREADS="4", BEHIND_PROXY="1")
    host = f"127.0.0.1:{web.port}"
    with proxy(request.param, tmp_path_factory.mktemp("proxy"), host, host) as port:
        yield WebServer(port)


@pytest.mark.parametrize("name", SHAPES)
def test_a_stranger_delays_nobody_else(acme, behind, name):
    _, secret = IssuedKeyFactory.create(party=acme)
    path = f"/v3/suppliers/{acme.pk}/variants"
    assert behind.ask("GET", path, secret=secret).status == 200

    with crowd(behind.port, name, source=STRANGER):
        end = time.monotonic() + SECONDS
        answers = []
        while time.monotonic() < end:
            answers += [behind.ask("GET", path, secret=secret), behind.ask("GET", "/v3/schema")]

    assert {answer.status for answer in answers} == {200}
    assert max(answer.seconds for answer in answers) < SOON

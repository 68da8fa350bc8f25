"""Behind the proxies of deploy/, too, a stranger with 64 connections delays no other party."""

from __future__ import annotations

import pytest

from tests.deploy.proxies import proxy
from tests.factories import IssuedKeyFactory
from tests.faults.stranger_shapes import SHAPES
from tests.faults.tenant import Tenant
from tests.faults.web_server import WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault, pytest.mark.program]


@pytest.fixture(scope="module")
def host(start_web):
    """Start one host for all proxies: pytest sets `behind` up again for each proxy."""
    web = start_web(WEB_THREADS="4", BEHIND_PROXY="1", GUNICORN_CMD_ARGS="--max-requests 0")
    return f"127.0.0.1:{web.port}"


@pytest.fixture(scope="module")
def behind(request, host, tmp_path_factory):
    """Run a proxy in front of the host."""
    with proxy(request.param, tmp_path_factory.mktemp("proxy"), host, host) as port:
        yield WebServer(port)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("behind", ["nginx", "haproxy", "caddy"], indirect=True)
def test_a_stranger_delays_no_other_client(acme, behind, name):
    _, secret = IssuedKeyFactory.create(party=acme)
    tenant = Tenant(behind, f"/v3/suppliers/{acme.pk}/variants", secret)
    tenant.ask_beside(name)
    tenant.is_not_delayed()

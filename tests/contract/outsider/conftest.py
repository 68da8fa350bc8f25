"""Tests of a running service from outside, with the keys and addresses of its `demo.json`.

The environment variable `DEMO_JSON` is the path of the file (default `var/demo.json`). If no service answers,
all tests of this folder are skipped. *Contract 3* and *Interface 2.1* in docstrings are sections of the
specification of the API: the interface lists the endpoints, and the contract has the rules of the service.
*Contract, head* is the part of the contract before its first section.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .http_client import Caller
from .sftp_client import Area


@pytest.fixture(autouse=True)
def _reset_rate_limits() -> None:
    """Do nothing: replace the project's fixture, because these tests cannot reach the service's cache."""


@pytest.fixture(scope="session")
def demo() -> Any:
    """Return the content of demo.json (contract 11)."""
    named = os.environ.get("DEMO_JSON")
    path = Path(named or "var/demo.json")
    if not path.is_file():
        pytest.skip(f"no running service: {path} does not exist (run `make run`, or set DEMO_JSON)")
    found = json.loads(path.read_text())
    try:
        status = Caller(found["base_url"]).get("/healthz").status
    except OSError as refused:
        if named:
            pytest.fail(f"DEMO_JSON={named}, but {found['base_url']} does not answer: {refused}")
        pytest.skip(f"no running service: {found['base_url']} of {path} does not answer ({refused})")
    assert status == 200
    return found


@pytest.fixture(autouse=True)
def _service(demo: Any) -> None:
    """Skip all tests of this folder unless a service is running."""


def _party(demo: Any, role: str, name: str) -> Caller:
    about = next(party for party in demo[role] if party["name"] == name)
    return Caller(demo["base_url"], about["api_key"], f"/v3/{role}/{about['id']}", **about)


@pytest.fixture(scope="session")
def acme(demo: Any) -> Caller:
    return _party(demo, "suppliers", "Acme")


@pytest.fixture(scope="session")
def rival(demo: Any) -> Caller:
    return _party(demo, "suppliers", "Rival")


@pytest.fixture(scope="session")
def shop(demo: Any) -> Caller:
    """Return the client of Shop, a partner of Acme and Rival."""
    return _party(demo, "retailers", "Shop")


@pytest.fixture(scope="session")
def boutique(demo: Any) -> Caller:
    """Return the client of Boutique, a partner of Rival only."""
    return _party(demo, "retailers", "Boutique")


@pytest.fixture(scope="session")
def anyone(demo: Any) -> Caller:
    """Return a client without a key."""
    return Caller(demo["base_url"])


@pytest.fixture
def area(demo: Any, acme: Caller) -> Iterator[Area]:
    """Open Acme's upload area by SFTP, with the host key of demo.json."""
    with Area(demo["sftp"], acme.about["sftp_username"], acme.about["sftp_password"]) as opened:
        yield opened


@pytest.fixture
def rivals_area(demo: Any, rival: Caller) -> Iterator[Area]:
    with Area(demo["sftp"], rival.about["sftp_username"], rival.about["sftp_password"]) as opened:
        yield opened

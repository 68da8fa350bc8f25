"""The service announces addresses at which it answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings as present

from config.ports import reachable

SHOW = (
    "import json; from config import settings; "
    "print(json.dumps([settings.BASE_URL, [*dict.fromkeys(settings.ALLOWED_HOSTS)]]))"
)
ALWAYS = ["127.0.0.1", "localhost", "[::1]"]


def announced(**environment: str) -> object:
    """Return BASE_URL and ALLOWED_HOSTS of a process with these variables."""
    known = {name: text for name, text in os.environ.items() if name not in ("BASE_URL", "ALLOWED_HOSTS")}
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=present.BASE_DIR,
        env={**known, "PORT": "8000", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.program
@pytest.mark.parametrize(
    ("host", "base_url", "more_hosts"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000", []),
        ("0.0.0.0", "http://127.0.0.1:8000", []),
        ("::1", "http://[::1]:8000", []),
        ("192.0.2.7", "http://192.0.2.7:8000", ["192.0.2.7"]),
        ("2001:db8::7", "http://[2001:db8::7]:8000", ["[2001:db8::7]"]),
    ],
)
def test_web_announces_and_accepts_the_address_at_which_it_listens(host, base_url, more_hosts):
    assert announced(HOST=host) == [base_url, [*ALWAYS, *more_hosts]]


@pytest.mark.program
def test_given_names_replace_the_address():
    given = {"BASE_URL": "https://exchange.example", "ALLOWED_HOSTS": "exchange.example"}

    assert announced(HOST="192.0.2.7", **given) == ["https://exchange.example", ["exchange.example"]]


def test_a_server_that_listens_at_all_addresses_is_reachable_at_the_own_machine():
    hosts = ("0.0.0.0", "::", "", "192.0.2.7")

    assert [reachable(host) for host in hosts] == ["127.0.0.1", "::1", "127.0.0.1", "192.0.2.7"]

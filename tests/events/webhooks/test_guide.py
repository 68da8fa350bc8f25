"""The guide's code for receivers verifies deliveries in both of its languages."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from typing import Any

import pytest

from events.webhooks.sending.requests import headers_of
from events.webhooks.signing import key_of
from tests.architecture.sources import text_of

SECRET, OTHER = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
BODY = '{"id":7,"type":"order.created","data":{"name":"Zoë"}}'.encode()


def code(language: str) -> str:
    found = re.search(rf"## Webhooks.*?```{language}\n(.*?)```", text_of("docs/api-guide.md"), re.S)
    assert found
    return found[1]


def in_python(secret: str, headers: dict[str, str], body: bytes) -> bool:
    names: dict[str, Any] = {}
    exec(code("python"), names)
    try:
        names["verify"](secret, headers, body)
    except ValueError:
        return False
    return True


def in_javascript(secret: str, headers: dict[str, str], body: bytes) -> bool:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here")
    call = f"verify({json.dumps(secret)}, {json.dumps(headers)}, {json.dumps(body.decode())})"
    return subprocess.run([node, "-e", f"{code('javascript')}\n{call}"], capture_output=True).returncode == 0


@pytest.mark.parametrize("verified", [in_python, in_javascript])
def test_the_guides_code_recognizes_signed_deliveries(verified, time_machine):
    headers = dict(headers_of(7, BODY, [key_of(SECRET), key_of(OTHER)]))
    assert verified(SECRET, headers, BODY)
    assert verified(OTHER, headers, BODY)
    assert not verified(SECRET, headers, BODY + b" ")
    assert not verified("whsec_" + "B" * 32, headers, BODY)
    assert not verified(SECRET, {**headers, "webhook-id": "evt_8"}, BODY)
    old = {**headers, "webhook-timestamp": str(int(time.time()) - 600)}
    assert not verified(SECRET, old, BODY)

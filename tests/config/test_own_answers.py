"""Answers of the web process that are hard to cause from outside: a full queue, and too many wrong keys."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn import util
from gunicorn.config import Config
from gunicorn.http.errors import InvalidRequestLine

from api import request_id
from config.web import answers
from config.web.worker import Worker

REQUEST: Any = SimpleNamespace(path="/v3/retailers/1/orders", headers=[("X-REQUEST-ID", "erp-7")])


def read(answer: bytes) -> tuple[str, dict[str, str], dict[str, object]]:
    head, _, body = answer.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    return first, dict(line.split(": ", 1) for line in lines), json.loads(body)


def test_a_request_that_waited_too_long_is_refused_under_its_own_request_id() -> None:
    worker = Worker(1, 1, [], None, 30, Config(), None)
    sent: list[bytes] = []
    worker._give = lambda connection, answer: sent.append(answer)  # type: ignore[method-assign]
    worker._refuse(SimpleNamespace(arrival=SimpleNamespace(request=REQUEST)), 503, answers.BUSY)  # type: ignore[arg-type]
    worker.tmp.close()  # left open, it could fail a later test

    first, headers, body = read(sent[0])
    assert (first, body["code"]) == ("HTTP/1.1 503 Service Unavailable", "busy")
    assert headers["X-Request-Id"] == body["request_id"] == "erp-7"


@pytest.mark.parametrize(("limit", "shown"), [("30/min", ("30", "0", "12")), ("off", (None, None, None))])
def test_a_network_with_too_many_wrong_keys_sees_its_limit(settings, limit, shown) -> None:
    settings.FAILED_KEYS_LIMIT = limit
    first, headers, body = read(answers.too_many_wrong_keys(REQUEST, 11.2))

    assert (first, body["code"], headers["Retry-After"]) == (
        "HTTP/1.1 429 Too Many Requests",
        "rate_limited",
        "12",
    )
    assert headers["X-Request-Id"] == body["request_id"] == "erp-7"
    names = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
    assert tuple(headers.get(name) for name in names) == shown


def test_the_log_line_and_the_answer_of_a_malformed_request_have_one_new_id(monkeypatch) -> None:
    """The log line had the id of the client that the process had refused before."""
    worker: Any = Worker(1, 1, [], None, 30, Config(), None)
    noted: list[str] = []
    worker.log = SimpleNamespace(warning=lambda text: noted.append(request_id.current_request_id()))
    worker.sending = SimpleNamespace(answered=lambda connection: None)
    sent: list[bytes] = []
    outlet = SimpleNamespace(sendall=sent.append)
    arrival = SimpleNamespace(request=None)
    monkeypatch.setattr(util, "write_error", answers.write_error)
    request_id.begin("of-another-client")

    worker._refuse_malformed(
        SimpleNamespace(arrival=arrival, sock=outlet, client=("", 0)), InvalidRequestLine("x")
    )
    worker.tmp.close()

    _, headers, body = read(sent[0])
    assert [headers["X-Request-Id"]] == noted == [body["request_id"]]
    assert noted != ["of-another-client"]

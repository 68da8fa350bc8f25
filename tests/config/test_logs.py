"""The log has one line for each request, with the party and without secrets."""

import json
import logging

import pytest

from api import request_id
from config.logs import ContextFilter, JsonFormatter, LineFormatter, ProbeFilter, redact


def written(formatter, message, *args, exc_info=None, **extra):
    record = logging.LogRecord("exchange.test", logging.INFO, "", 1, message, args, exc_info)
    record.__dict__.update(extra)
    ContextFilter().filter(record)
    return formatter.format(record)


@pytest.fixture
def _context():
    request_id.begin("r-1")
    request_id.name_party("supplier:7")
    yield
    request_id.begin(None)


@pytest.mark.usefixtures("_context")
def test_each_line_shows_request_and_party():
    assert written(LineFormatter(), "done %s", 3).endswith(
        "INFO exchange.test: done 3 party=supplier:7 request_id=r-1"
    )


@pytest.mark.usefixtures("_context")
def test_json_logs_have_one_object_per_line():
    line = written(JsonFormatter(), "two\nlines", status=201, route="/v3/x")
    assert "\n" not in line
    assert json.loads(line) | {"time": ""} == {
        "time": "",
        "level": "INFO",
        "logger": "exchange.test",
        "message": "two\nlines",
        "party": "supplier:7",
        "request_id": "r-1",
        "status": 201,
        "route": "/v3/x",
    }


@pytest.mark.parametrize(
    "text",
    [
        "key fxk_0123456789ab_SECRET-x_y was used",
        "token fxt_0123456789ab_SECRET",
        "Authorization: Bearer SECRET.abc",
        "Authorization: Basic SECRET==",
        'null value in column "sku"\nDETAIL:  Failing row contains (1, SECRET Street\nSECRET Town).',
    ],
)
def test_secrets_and_quoted_rows_are_left_out(text):
    assert "SECRET" not in redact(text)


def test_the_lines_of_a_traceback_after_a_quoted_row_are_kept():
    text = "Error: bad\nDETAIL:  (SECRET)\n\nThe above exception was the direct cause:\nTraceback: here"
    assert redact(text).endswith("The above exception was the direct cause:\nTraceback: here")
    assert "SECRET" not in redact(text)


def test_a_request_is_one_line_without_its_url_body_or_key(acme, client_for, caplog):
    client = client_for(acme)
    with caplog.at_level(logging.INFO, logger="exchange.request"):
        client.request("PUT", "nothing/PO-4711?email=a@example.org", {"name": "Jane Doe"})
        client.get("?email=a@example.org")
    lines = [record for record in caplog.records if record.name == "exchange.request"]
    assert [(line.method, line.route, line.status) for line in lines] == [
        ("PUT", "none", 404),
        ("GET", "/v3/suppliers/<id:supplier_id>", 200),
    ]
    logged = " ".join(written(LineFormatter(), line.getMessage()) for line in lines)
    for secret in ("example.org", "Jane", client.secret, "PO-4711"):
        assert secret not in logged


def test_successful_health_checks_are_not_logged(client, caplog):
    with caplog.at_level(logging.INFO):
        client.get("/healthz")
    assert not [record for record in caplog.records if record.name == "exchange.request"]


def test_a_health_check_that_answers_503_is_not_logged_as_an_error(rf):
    record = logging.makeLogRecord({"name": "django.request", "request": rf.get("/statusz")})
    assert not ProbeFilter().filter(record)
    record = logging.makeLogRecord({"name": "django.request", "request": rf.get("/v3/variants")})
    assert ProbeFilter().filter(record)

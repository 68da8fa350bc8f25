"""Values of answers and requests: exact decimals, files, tags, rows of CSV, and imports that end."""

from __future__ import annotations

from decimal import Decimal

import httpx
import pytest

from exchange_client import ApiError, Supplier, csv_lines

JOB = {"id": 3, "status": "running", "finished_at": None, "rejected": 0}


@pytest.fixture
def acme(service) -> Supplier:
    return Supplier(
        "https://exchange.example", "fxk_secret", 1, transport=service, sleep=service.slept.append
    )


def test_money_is_a_decimal_also_without_decimals(service, acme):
    text = b'{"id": 24, "retail_price": 24, "wholesale_price": 9.50}'
    service.answers = [httpx.Response(200, content=text, headers={"Content-Type": "application/json"})]

    variant = acme.get_variant(24)

    assert [type(variant[name]) for name in ("id", "retail_price", "wholesale_price")] == [
        int,
        Decimal,
        Decimal,
    ]
    assert str(variant["wholesale_price"]) == "9.50"


def test_an_error_says_each_fact_once(service, acme, refused):
    errors = [{"field": "sku", "message": "No."}, {"field": "title", "message": "Too long."}]
    service.answers = [refused(400, "validation_error", errors=errors)]

    with pytest.raises(ApiError) as caught:
        acme.get_variant(5)

    assert str(caught.value) == "400 validation_error: No.; sku; title: Too long. (request r-1)"


def test_a_packing_slip_is_bytes(service, acme):
    service.answers = [httpx.Response(200, content=b"%PDF-\xff", headers={"Content-Type": "application/pdf"})]

    assert acme.get_packing_slip(5) == b"%PDF-\xff"


def test_a_change_can_be_bound_to_what_was_read(service, acme):
    service.answers = [httpx.Response(200, json={}, headers={"ETag": '"a"'}), httpx.Response(200, json={})]

    acme.get_variant(5)
    acme.change_variant(5, {"retail_price": Decimal("19.90")}, if_match=acme.last_etag)

    assert service.asked[1].headers["If-Match"] == '"a"'
    assert acme.last_etag is None


def test_rows_become_lines_of_csv():
    rows = [{"sku": "MUG", "title": 'A "big" mug, blue'}, {"sku": "LAN-01", "title": ""}]

    assert csv_lines(rows) == ["sku,title", 'MUG,"A ""big"" mug, blue"', "LAN-01,"]
    assert csv_lines([]) == []


def test_an_import_is_waited_for(service, acme):
    ended = {**JOB, "status": "succeeded", "finished_at": "2026-11-24T01:00:00Z"}
    service.answers = [httpx.Response(200, json=JOB), httpx.Response(200, json=ended)]

    assert acme.wait_for_import(3)["status"] == "succeeded"
    assert service.slept == [1.0]

    service.answers = [httpx.Response(200, json={**JOB, "status": "awaiting_approval"})]
    assert acme.wait_for_import(3)["status"] == "awaiting_approval"


def test_an_import_that_takes_too_long_is_an_error(service, acme):
    service.answers = [httpx.Response(200, json=JOB) for _ in range(4)]

    with pytest.raises(TimeoutError, match="import 3 is still running"):
        acme.wait_for_import(3, timeout=3)

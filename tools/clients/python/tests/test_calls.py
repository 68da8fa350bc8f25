"""Requests, retries and exceptions of the client."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime

import httpx
import pytest

from exchange_client import ApiError, FieldError, NotReached

PUSHED = {"success": True, "code": "order_created", "message": "", "order_id": 5, "warnings": []}
ORDER = {"retailer_order_id": "A-1", "order_lines": []}


def test_a_push_is_sent_again_under_the_same_key(service, shop, refused):
    lost = httpx.ReadTimeout("lost")
    service.answers = [
        lost,
        refused(503, "busy"),
        refused(409, "in_progress"),
        httpx.Response(201, json=PUSHED),
    ]

    assert shop.push_order(ORDER)["order_id"] == 5

    keys = [each.headers["Idempotency-Key"] for each in service.asked]
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert 0.25 <= service.slept[0] <= 0.5 <= service.slept[1] <= 1.0 <= service.slept[2] <= 2.0


def test_two_pushes_have_two_keys_and_ones_own_is_kept(service, shop):
    service.answers = [httpx.Response(201, json=PUSHED) for _ in range(3)]

    for key in (None, None, "A-1"):
        shop.push_order(ORDER, idempotency_key=key)

    first, second, third = [each.headers["Idempotency-Key"] for each in service.asked]
    assert first != second
    assert third == "A-1"


def test_the_service_says_how_long_to_wait(service, shop, refused):
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    service.answers = [
        refused(429, "rate_limited", {"Retry-After": "17"}),
        refused(503, "unavailable", {"Retry-After": at}),
        httpx.Response(200, json={}),
    ]

    shop.get_order(5)

    assert service.slept[0] == 17
    assert 35 < service.slept[1] <= 40


def test_who_is_asked_to_wait_long_hears_so_at_once(service, shop, refused):
    service.answers = [refused(503, "unavailable", {"Retry-After": "3600"})]

    with pytest.raises(ApiError) as raised:
        shop.get_order(5)

    assert (raised.value.retry_after, service.slept) == (3600, [])


def test_it_gives_up(service, shop, refused):
    service.answers = [refused(500, "internal_error") for _ in range(6)]
    with pytest.raises(ApiError):
        shop.get_order(5)
    assert len(service.asked) == 6

    service.answers = [httpx.ConnectError("nobody there") for _ in range(6)]
    with pytest.raises(NotReached, match="orders/5"):
        shop.get_order(5)


@pytest.mark.parametrize(
    ("status", "code"), [(400, "validation_error"), (404, "not_found"), (409, "order_conflict")]
)
def test_what_will_not_get_better_is_asked_once(service, shop, refused, status, code):
    service.answers = [refused(status, code)]

    with pytest.raises(ApiError, match=code):
        shop.push_order(ORDER)

    assert len(service.asked) == 1


def test_an_error_says_all_that_the_service_says(service, shop, refused):
    fault = {"field": "order_lines[2].quantity", "code": "required", "message": "Missing."}
    service.answers = [
        refused(400, "missing_parameter", errors=[fault], docs="/v3/docs/errors#missing_parameter")
    ]

    with pytest.raises(ApiError) as raised:
        shop.push_order(ORDER)

    error = raised.value
    assert (error.status, error.code, error.message, error.request_id) == (
        400,
        "missing_parameter",
        "No.",
        "r-1",
    )
    assert error.errors == [FieldError(**fault)]
    assert error.docs == "https://exchange.example/v3/docs/errors#missing_parameter"
    assert "order_lines[2].quantity: Missing." in str(error)


def test_a_proxys_page_is_an_error_too(service, shop):
    service.answers = [httpx.Response(403, text="<html>", headers={"X-Request-Id": "p-9"})]

    with pytest.raises(ApiError) as raised:
        shop.get_order(5)

    assert (raised.value.code, raised.value.request_id) == ("unknown", "p-9")


def test_money_goes_and_comes_exactly(service, shop):
    service.answers = [
        httpx.Response(201, json=PUSHED),
        httpx.Response(200, text='{"shipping_paid": 19.10}', headers={"Content-Type": "application/json"}),
    ]

    shop.push_order({**ORDER, "shipping_paid": Decimal("19.10"), "ship_until": date(2026, 12, 1)})

    assert json.loads(service.asked[0].content)["shipping_paid"] == 19.1
    assert json.loads(service.asked[0].content)["ship_until"] == "2026-12-01"
    assert shop.get_order(5)["shipping_paid"] == Decimal("19.10")


@pytest.mark.parametrize(
    "amount", [Decimal("0.12345678901234567890"), Decimal("NaN"), float("inf"), object()]
)
def test_what_json_cannot_say_is_never_sent(service, shop, amount):
    with pytest.raises((ValueError, TypeError)):
        shop.push_order({**ORDER, "shipping_paid": amount})

    assert service.asked == []

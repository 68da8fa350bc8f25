"""Requests as bytes, for rounds of load. Each path below /v3/ has a bare path, whose view runs only SQL."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from tools.bench.serving.load import MARK
from tools.bench.serving.market import ADDRESS


def get(path: str, secret: str, **params: str) -> bytes:
    return _request("GET", f"{path}?{urlencode(params)}", secret, b"")


def post(path: str, secret: str, body: Any) -> bytes:
    return _request("POST", path, secret, json.dumps(body).encode())


def push(retailer_id: int, secret: str, skus: list[str]) -> bytes:
    """Return the push of an order of one unit of each sku, with a number that is new in each request."""
    body = {
        "retailer_order_id": f"B-{MARK.decode()}",
        "shipping_address": json.loads(ADDRESS),
        "shipping_method_code": "GROUND",
        "shipping_paid": 4.95,
        "order_lines": [{"sku": sku, "quantity": 1, "billed_amount": 19.99} for sku in skus],
    }
    return post(f"retailers/{retailer_id}/orders", secret, body)


def bare(request: bytes) -> bytes:
    """Return a request's copy for its bare path, whose view runs only the SQL of the answer."""
    return request.replace(b" /v3/", b" /bare/", 1)


def _request(method: str, path: str, secret: str, body: bytes) -> bytes:
    head = (
        f"{method} /v3/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body

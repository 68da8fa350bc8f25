"""Requests: as bytes for the load, and as values to count the queries of one request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urlencode

from tools.bench.serving.load import MARK


@dataclass(frozen=True)
class BenchRequest:
    """A request with the path of the real view and the path of its bare view."""

    method: str
    path: str
    bare: str
    secret: str
    body: bytes = b""

    def real_bytes(self) -> bytes:
        return self._bytes(self.path)

    def bare_bytes(self) -> bytes:
        return self._bytes(self.bare)

    def _bytes(self, path: str) -> bytes:
        head = (
            f"{self.method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n"
            f"Authorization: Bearer {self.secret}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


def get(path: str, secret: str, **params: str) -> BenchRequest:
    query = f"?{urlencode(params)}" if params else ""
    return BenchRequest("GET", f"/v3/{path}{query}", f"/bare/{path}{query}", secret)


def push(retailer_id: int, secret: str, skus: list[str]) -> BenchRequest:
    """Return the push of an order of one unit of each sku, with a number that is new in each request."""
    address = {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "address1": "12 St James Square",
        "country": "GB",
        "city": "London",
        "zip_code": "SW1Y 4JH",
        "email": "ada@example.com",
    }
    body = {
        "retailer_order_id": f"B-{MARK.decode()}",
        "shipping_address": address,
        "shipping_method_code": "GROUND",
        "shipping_paid": 4.95,
        "order_lines": [{"sku": sku, "quantity": 1, "billed_amount": 19.99} for sku in skus],
    }
    path = f"retailers/{retailer_id}/orders"
    return BenchRequest("POST", f"/v3/{path}", f"/bare/{path}/push", secret, json.dumps(body).encode())

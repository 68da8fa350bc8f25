"""A partner's client that repeats a call with the same idempotency key until it is answered."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

TIMEOUT = 15.0
BETWEEN = 0.2  # seconds between two tries
ADDRESS = {
    "first_name": "Ada",
    "last_name": "Berg",
    "address1": "12 Harbour Street",
    "city": "Portland",
    "state": "ME",
    "zip_code": "04101",
    "country": "US",
    "phone_number": "+1 207 555 0100",
    "email": "ada@example.org",
}


class Unexpected(Exception):
    """The error for an answer that the service must never give, or for a call that never succeeds."""


@dataclass
class Tally:
    """The counts of all clients' answers and failures."""

    answers: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    longest_outage: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str, seconds: float = 0.0) -> None:
        with self.lock:
            self.answers[what] += 1
            if seconds:
                self.seconds.append(seconds)

    def outage(self, seconds: float) -> None:
        with self.lock:
            self.longest_outage = max(self.longest_outage, seconds)


@dataclass
class PartyClient:
    port: int
    base: str
    key: str
    tally: Tally
    give_up: threading.Event

    @property
    def party_id(self) -> int:
        return int(self.base.rpartition("/")[2])

    def call(self, method: str, path: str, body: Any = None, *, known: tuple[int, ...] = ()) -> Any:
        """Repeat a call until it succeeds or gets a status of `known`, and return the body.

        Raise Unexpected for an answer that a repetition cannot change, or after `give_up`.
        """
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        content = b"" if body is None else json.dumps(body).encode()
        began = time.monotonic()
        while True:
            status, answer = self._try(method, path, content, headers)
            if 200 <= status < 300 or status in known:
                self.tally.outage(time.monotonic() - began)
                return answer
            passing = status in (0, 429) or status >= 500 or (answer or {}).get("code") == "in_progress"
            if not passing:
                raise Unexpected(f"{method} {path}: {status} {answer}")
            if self.give_up.wait(BETWEEN):
                raise Unexpected(f"{method} {path}: still {status} {answer} at the end")

    def create_variants(self, skus: Sequence[str]) -> None:
        for sku in skus:
            body = {"sku": sku, "title": f"Title of {sku}", "retail_price": 20, "wholesale_price": 10}
            self.call("POST", "variants", body, known=(409,))

    def count_stock(self, warehouse: int, skus: Sequence[str], amount: int) -> Any:
        counts = [{"id": sku, "amount": amount} for sku in skus]
        body = {"warehouse_id": str(warehouse), "id_type": "sku", "inventories": counts}
        return self.call("POST", "inventory", body)

    def _try(self, method: str, path: str, content: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        """Return the status and the body; the status is 0 without an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        began = time.monotonic()
        try:
            connection.request(method, f"{self.base}/{path}", content, headers)
            response = connection.getresponse()
            text = response.read()
            status = response.status
        except (OSError, HTTPException) as error:
            self.tally.count(f"no answer ({type(error).__name__})")
            return 0, None
        finally:
            connection.close()
        self.tally.count(str(status), time.monotonic() - began)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, None

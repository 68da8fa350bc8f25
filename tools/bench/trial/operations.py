"""What a use of `fastdb` serves: requests as a web process answers them, from the header to the last byte."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from io import BytesIO
from itertools import count
from typing import Any
from unittest.mock import Mock

from django.core.wsgi import get_wsgi_application

from fulfillments.states import State, sql
from tools.bench.serving.asking import Asked, get, push
from tools.bench.serving.load import MARK
from tools.bench.serving.market import OPEN, PARTIES, Secrets, execute

Operation = Callable[[], Asked]
"""Makes the next request of its kind."""
Answer = Callable[[Asked], bytes]
"""Answers a request with the body."""


def operations(secrets: Secrets) -> dict[str, Operation]:
    """Each with what makes its next request; what moves a fulfillment takes a fresh one every time."""
    execute(
        "UPDATE inventory_stocklevel SET reserved = 1000000"
    )  # the market's orders have set nothing aside
    state = sql(State.ACCEPTED)
    execute(f"UPDATE fulfillments_fulfillment SET state = {state} WHERE id BETWEEN {OPEN // 2} AND {OPEN}")
    shop, supplier = secrets.retailers[1], secrets.suppliers[1]
    since = json.dumps({"updated_at": {"gt": "2024-01-01T00:00:00Z"}})
    work = json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})
    numbers, new, accepted = count(1), iter(range(1, OPEN // 2)), iter(range(OPEN // 2, OPEN + 1))
    skus = [f"S1-{variant:06d}" for variant in range(1, 4)]

    def pushed(number: int) -> Asked:
        asked = push(1, shop, skus)
        return Asked(asked.method, asked.path, "", asked.secret, asked.body.replace(MARK, b"%012d" % number))

    def moved(number: int, verb: str, **body: str) -> Asked:
        path = f"/v3/suppliers/{supplier_of(number)}/fulfillments/{number}/setStatus/{verb}"
        return Asked("PUT", path, "", secrets.suppliers[supplier_of(number)], json.dumps(body).encode())

    return {
        "push an order of 3 lines": lambda: pushed(next(numbers)),
        "push it again": lambda: pushed(1),
        "list 100 orders": lambda: get("retailers/1/orders", shop, filter=since, limit="100"),
        "read an order": lambda: get(f"retailers/1/orders/{PARTIES}", shop),
        "count orders": lambda: get("retailers/1/order-filters", shop),
        "capture 100 fulfillments": lambda: get(
            "suppliers/1/fulfillments", supplier, filter=work, limit="100"
        ),
        "read a fulfillment": lambda: get(f"suppliers/1/fulfillments/{PARTIES * PARTIES}", supplier),
        "accept a fulfillment": lambda: moved(next(new), "accepted"),
        "ship a fulfillment": lambda: moved(next(accepted), "shipped", tracking_number="1Z"),
    }


def supplier_of(number: int) -> int:
    """Whose the market's fulfillment of that number is."""
    return number // PARTIES % PARTIES + 1


def service() -> Answer:
    """The Exchange in this process."""
    logging.disable(logging.INFO)  # a line for each request would stand between our own
    application = get_wsgi_application()

    def answer(asked: Asked) -> bytes:
        response = application(_environ(asked), Mock())
        body = b"".join(response)
        response.close()
        assert response.status_code < 300, body
        return body

    return answer


def _environ(asked: Asked) -> dict[str, Any]:
    path, _, query = asked.path.partition("?")
    return {
        "REQUEST_METHOD": asked.method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1",
        "HTTP_ACCEPT": "application/json",
        "HTTP_AUTHORIZATION": f"Bearer {asked.secret}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(asked.body)),
        "wsgi.input": BytesIO(asked.body),
        "wsgi.url_scheme": "http",
    }

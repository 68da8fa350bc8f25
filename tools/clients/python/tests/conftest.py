"""Fixtures: a fake service that answers from a list and records its requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from exchange_client import Retailer

Answer = httpx.Response | Exception


class Service(httpx.BaseTransport):
    """A fake service. `asked` has its requests, `slept` the pauses between them."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[httpx.Request] = []
        self.slept: list[float] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def shop(service: Service) -> Retailer:
    return Retailer(
        "https://exchange.example", "fxk_secret", 7, transport=service, sleep=service.slept.append
    )


@pytest.fixture
def refused() -> Callable[..., httpx.Response]:
    def make(status: int, code: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        body = {"success": False, "code": code, "message": "No.", "request_id": "r-1", **more}
        return httpx.Response(status, json=body, headers=headers or {})

    return make

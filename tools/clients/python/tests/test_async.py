"""The asynchronous clients behave like the synchronous clients."""

from __future__ import annotations

import asyncio
import inspect

import httpx
import pytest

from exchange_client import ApiError, AsyncRetailer, AsyncSupplier, Retailer, Supplier

PUSHED = {"success": True, "code": "order_created", "message": "", "order_id": 5, "warnings": []}


class AsyncService(httpx.AsyncBaseTransport):
    """A fake service. `asked` has its requests, `slept` the pauses between them."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.slept: list[float] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def shop(self) -> AsyncRetailer:
        return AsyncRetailer("https://exchange.example", "fxk_secret", 7, transport=self, sleep=self.sleep)


def test_a_push_is_sent_again_under_the_same_key(refused):
    service = AsyncService(httpx.ReadTimeout("lost"), refused(503, "busy"), httpx.Response(201, json=PUSHED))

    async def push():
        async with service.shop() as shop:
            return await shop.push_order({"retailer_order_id": "A-1", "order_lines": []})

    assert asyncio.run(push())["order_id"] == 5
    assert len({each.headers["Idempotency-Key"] for each in service.asked}) == 1
    assert len(service.slept) == 2


def test_all_pages_are_read():
    pages = [
        {"next": "https://exchange.example/v3/retailers/7/orders?cursor=b", "results": [{"id": 1}]},
        {"next": None, "results": [{"id": 2}]},
    ]
    service = AsyncService(*(httpx.Response(200, json=page) for page in pages))

    async def read():
        return [order["id"] async for order in service.shop().changed_orders()]

    assert asyncio.run(read()) == [1, 2]


def test_a_refusal_is_raised_and_a_tag_is_kept(refused):
    service = AsyncService(httpx.Response(200, json={}, headers={"ETag": '"a"'}), refused(412, "changed"))

    async def change():
        shop = service.shop()
        await shop.get_order(5)
        await shop.change_order(5, {}, if_match=shop.last_etag)

    with pytest.raises(ApiError):
        asyncio.run(change())
    assert service.asked[-1].headers["If-Match"] == '"a"'


@pytest.mark.parametrize(("plain", "twin"), [(Retailer, AsyncRetailer), (Supplier, AsyncSupplier)])
def test_each_method_has_its_twin(plain, twin):
    names = {name for name, _ in inspect.getmembers(plain, inspect.isfunction) if not name.startswith("_")}

    assert names
    for name in names:
        ours, theirs = (inspect.signature(getattr(each, name)) for each in (plain, twin))
        assert list(ours.parameters) == list(theirs.parameters)
        method = getattr(twin, name)
        is_pages = name == "pages" or name.startswith(("iter_", "follow_", "changed_"))
        assert is_pages or inspect.iscoroutinefunction(method), name

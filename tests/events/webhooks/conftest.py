from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from ipaddress import ip_network

import pytest
from django.db import transaction

from accounts.actors import Actor
from events.models import Event, Webhook
from events.recording import record
from events.webhooks.sending.process import SendingProcess
from tests.factories import WebhookFactory

ROBOT = Actor.system("test")


@contextmanager
def running() -> Iterator[SendingProcess]:
    """Run a sender in a thread of this process."""
    process = SendingProcess()
    thread = threading.Thread(target=lambda: asyncio.run(process.run()), name="sender")
    thread.start()
    while process._loop is None:
        thread.join(0.001)
    try:
        yield process
    finally:
        process.stop_from_elsewhere()
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def sending() -> Callable[[], AbstractContextManager[SendingProcess]]:
    return running


@pytest.fixture
def _local_receivers(settings) -> None:
    """Allow receivers on this machine."""
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture
def happen(shop) -> Callable[..., Event]:
    """Return a function that commits an event of an order of Shop."""

    def make(order: int, type_: str = "order.created") -> Event:
        with transaction.atomic():
            return record(type_, by=ROBOT, retailer=shop, order_id=order)

    return make


@pytest.fixture
def a_webhook(shop) -> Callable[..., Webhook]:
    def make(url: str, **fields: object) -> Webhook:
        webhook: Webhook = WebhookFactory.create(retailer=shop, url=url, **fields)
        return webhook

    return make

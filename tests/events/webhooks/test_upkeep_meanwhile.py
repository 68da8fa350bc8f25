"""The upkeep of deliveries while a replay runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from events.models import Delivery, Event
from events.webhooks import services
from events.webhooks.upkeep import keep_up
from tests.events.webhooks.conftest import ROBOT
from tests.factories import DeliveryFactory, WebhookFactory
from tests.interleaving import SHORTLY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def beside() -> Iterator[Callable[[Callable[[], Any]], Future[Any]]]:
    """Return a function that runs a call on another connection, and gives it time to reach a lock."""

    def alone(call: Callable[[], Any]) -> Any:
        try:
            return call()
        finally:
            connection.close()

    def start(call: Callable[[], Any]) -> Future[Any]:
        running = pool.submit(alone, call)
        wait([running], SHORTLY)
        return running

    with ThreadPoolExecutor(1) as pool:
        yield start


def test_a_delivery_that_a_replay_revives_meanwhile_is_not_deleted(beside, happen, shop):
    happen(1)
    Event.publish()
    webhook, at = WebhookFactory.create(retailer=shop), timezone.now() - timedelta(days=15)
    old = {"status": "delivered", "next_attempt_at": None, "attempted_at": at}
    delivery = DeliveryFactory.create(event=Event.objects.get(), webhook=webhook, **old)

    with transaction.atomic():
        services.replay(webhook, 0, None, by=ROBOT)
        upkeep = beside(keep_up)
    upkeep.result(30)

    assert Delivery.objects.get() == delivery

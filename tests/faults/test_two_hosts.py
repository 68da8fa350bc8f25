"""Two web servers on one database: the first is killed at work, and its clients use the second."""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from events.models import Event
from orders.models import Order
from tests.factories import IssuedKeyFactory
from tests.faults import clusters
from tests.faults.clusters import Cluster, connected_to
from tests.faults.conftest import database_url
from tests.faults.web_server import WebServer
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

ORDERS = 60
CALLERS = 4


class Caller:
    """A partner's system that repeats unanswered requests at the other host, under the same key."""

    def __init__(self, hosts: list[WebServer], retailer: int, secret: str) -> None:
        self.hosts, self.path, self.secret = hosts, f"/v3/retailers/{retailer}", secret
        self.repeated = 0

    def push(self, number: str) -> int:
        """Push an order until it is acknowledged; return its id."""
        key = str(uuid.uuid4())
        body = an_order({"sku": "A-1", "quantity": 1}, retailer_order_id=number)
        for attempt in range(200):
            host = self.hosts[attempt % len(self.hosts)]
            try:
                answer = host.ask(
                    "POST",
                    f"{self.path}/orders",
                    secret=self.secret,
                    body=body,
                    headers={"Idempotency-Key": key},
                )
            except (OSError, ConnectionError):
                self.repeated += 1
                continue
            if answer.status in (200, 201):
                return int(answer.json()["order_id"])
            threading.Event().wait(0.05)  # the request is still in progress, or the database is unavailable
        raise AssertionError(f"{number} was never acknowledged")

    def events(self, host: WebServer, after: int = 0) -> list[dict[str, Any]]:
        answer = host.ask("GET", f"{self.path}/events?after={after}&limit=500", secret=self.secret)
        assert answer.status == 200, answer.content
        return list(answer.json()["results"])


def acknowledged_once(acknowledged: dict[str, int]) -> None:
    """Check that each order and its event exist once, with the id of the answer."""
    stored = Counter(Order.objects.values_list("retailer_order_id", flat=True))
    assert stored == Counter(dict.fromkeys(acknowledged, 1))
    assert dict(Order.objects.values_list("retailer_order_id", "pk")) == acknowledged
    created = Event.objects.filter(type="order.created", retailer__isnull=False)
    assert Counter(created.values_list("order_id", flat=True)) == Counter(
        dict.fromkeys(acknowledged.values(), 1)
    )


def test_a_host_is_killed_in_the_midst_of_pushes_and_each_order_is_placed_once(
    acme, shop, a_variant, start_web
):
    a_variant(acme, "A-1", stock=1000)
    _, secret = IssuedKeyFactory.create(party=shop)
    one, two = start_web(), start_web()
    caller = Caller([one, two], shop.pk, secret)
    under_way = threading.Semaphore(0)

    def push(number: int) -> tuple[str, int]:
        under_way.release()
        return f"N-{number}", caller.push(f"N-{number}")

    with ThreadPoolExecutor(CALLERS) as pool:
        pushes = pool.map(push, range(ORDERS))
        for _ in range(ORDERS // 3):
            under_way.acquire()
        one.kill()
        acknowledged = dict(pushes)

    assert caller.repeated > 0
    acknowledged_once(acknowledged)
    assert two.ask("GET", "/readyz").status == 200


@pytest.fixture
def primary(acme, shop, a_variant) -> Iterator[Cluster]:
    with clusters.running() as cluster:
        yield cluster


def test_the_standby_takes_over_below_both_hosts_and_no_number_is_issued_twice(
    primary, acme, shop, a_variant, start_web, tmp_path: Path
):
    a_variant(acme, "A-1", stock=1000)
    _, secret = IssuedKeyFactory.create(party=shop)
    url = clusters.another_database(primary, "exchange_pair")
    clusters.dump(database_url(), tmp_path / "dump", primary.bin)
    clusters.restore(tmp_path / "dump", url, primary.bin)
    standby = primary.standby(primary.data.parent.with_name("standby"))
    both = either_of(primary, standby, url)
    hosts = [start_web(DATABASE_URL=both), start_web(DATABASE_URL=both)]
    caller = Caller(hosts, shop.pk, secret)
    try:
        acknowledged = {f"B-{number}": caller.push(f"B-{number}") for number in range(4)}
        seen = [event["id"] for event in caller.events(hosts[0])]
        standby.wait_until_it_follows(primary)
        primary.stop(killed=True)
        wait_until_ready_is(503, hosts)
        standby.promote()

        with ThreadPoolExecutor(CALLERS) as pool:
            numbers = [f"A-{number}" for number in range(8)]
            acknowledged |= dict(zip(numbers, pool.map(caller.push, numbers), strict=True))
        news = [[event["id"] for event in caller.events(host, seen[-1])] for host in hosts]
        assert news[0] == news[1]
        assert len(news[0]) >= len(numbers)
        assert not {*news[0]} & {*seen}
        wait_until_ready_is(200, hosts)
        with connected_to(standby.named(url)):
            acknowledged_once(acknowledged)
    finally:
        connection.close()
        for host in hosts:
            host.kill()
        standby.stop()


def wait_until_ready_is(status: int, hosts: list[WebServer]) -> None:
    """Wait for this status of /readyz, which caches its result for a second."""
    deadline = time.monotonic() + 30
    while any(host.ask("GET", "/readyz").status != status for host in hosts):
        assert time.monotonic() < deadline
        threading.Event().wait(0.1)


def either_of(one: Cluster, other: Cluster, url: str) -> str:
    """Return a URL with two hosts that connects to the writable database, in the form of docs/running.md."""
    head, _, tail = url.rpartition("@")
    places = ",".join(cluster.url.rpartition("@")[2].split("/")[0] for cluster in (one, other))
    return f"{head}@{places}/{tail.partition('/')[2]}?target_session_attrs=read-write"

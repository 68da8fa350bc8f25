"""PostgreSQL fails over under Patroni, behind haproxy and PgBouncer, while a retailer pushes orders."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from events.models import Epoch
from inventory.models import StockLevel
from orders.models import Order
from orders.reconciling.reconciling import differences
from tests.factories import IssuedKeyFactory
from tests.faults.clusters import connected_to
from tests.faults.conftest import environment
from tests.faults.patroni_cluster import PatroniCluster, failing_over
from tests.faults.sentinels import wait_until
from tests.faults.test_two_hosts import acknowledged_once
from tests.faults.web_server import Answer, WebServer
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault, pytest.mark.program]


@dataclass
class PushingRetailer:
    """A retailer's system that pushes one order after the other, and reads its events after each order.

    It repeats a request without an answer, and a request with 503 after `Retry-After` seconds.
    """

    web: WebServer
    path: str
    secret: str
    acknowledged: dict[str, int] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    repeated: int = 0
    _enough: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def at_work(self) -> Iterator[Future[None]]:
        """Push orders in another thread during the block."""
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(self._push_orders)
            try:
                yield work
            finally:
                self._enough.set()

    def has_pushed(self, more: int, work: Future[None]) -> Callable[[], bool]:
        """Return a function that returns whether this number of orders was acknowledged from now on."""
        enough = len(self.acknowledged) + more

        def pushed() -> bool:
            if work.done():
                work.result()
            return len(self.acknowledged) >= enough

        return pushed

    def read(self, after: int) -> list[dict[str, Any]]:
        """Read all events after a number, page by page."""
        found: list[dict[str, Any]] = []
        while True:
            answer = self._ask("GET", f"events?after={after}&limit=50", 200)
            page = answer.json()["results"]
            if not page:
                return found
            found += page
            after = page[-1]["id"]

    def _push_orders(self) -> None:
        while not self._enough.is_set():
            number = f"N-{len(self.acknowledged)}"
            body = an_order({"sku": "A-1", "quantity": 1}, retailer_order_id=number)
            answer = self._ask("POST", "orders", 200, 201, body=body)
            self.acknowledged[number] = answer.json()["order_id"]
            self.events += self.read(self.events[-1]["id"] if self.events else 0)

    def _ask(self, method: str, path: str, *expected: int, body: Any = None) -> Answer:
        for _ in range(100):
            pause = 1.0
            try:
                answer = self.web.ask(method, f"{self.path}/{path}", secret=self.secret, body=body)
            except OSError:
                pass  # the request has no answer
            else:
                if answer.status in expected:
                    return answer
                assert (answer.status, b'"unavailable"' in answer.content) == (503, True), answer.content
                pause = float(answer.headers["retry-after"])
            self.repeated += 1
            threading.Event().wait(pause)
        raise AssertionError(f"{method} {path} was never answered")


@pytest.fixture
def cluster() -> Iterator[PatroniCluster]:
    with failing_over() as cluster:
        yield cluster


def test_no_acknowledged_order_and_no_event_is_lost_when_patroni_fails_over(
    cluster, start_web, tmp_path: Path, request: pytest.FixtureRequest
):
    migrate(cluster.url, tmp_path)
    primary = cluster.primary
    standby = cluster.standby_of(primary)
    with connected_to(primary.url):
        acme, shop, a_variant = map(request.getfixturevalue, ("acme", "shop", "a_variant"))
        a_variant(acme, "A-1", stock=100_000)
        _, secret = IssuedKeyFactory.create(party=shop)
        epochs = Epoch.objects.count()
    retailer = PushingRetailer(start_web(DATABASE_URL=cluster.url), f"/v3/retailers/{shop.pk}", secret)

    with retailer.at_work() as work:
        wait_until(retailer.has_pushed(10, work), "orders are pushed")
        # From now on, orders are lost if the primary acknowledges them without waiting for its standby.
        primary.hold_back_standby()
        acknowledges = retailer.has_pushed(5, work)
        wait_until(lambda: primary.holds_a_commit() or acknowledges(), "an order waits for the standby")
        primary.kill()
        wait_until(lambda: standby.has_role("primary"), "the standby is the primary")
        wait_until(retailer.has_pushed(20, work), "orders are pushed again")
    work.result()

    assert retailer.repeated > 0
    with connected_to(standby.url):
        acknowledged_once(retailer.acknowledged)
        assert list(differences()) == []
        assert StockLevel.objects.get().reserved == len(retailer.acknowledged)
        assert Epoch.objects.count() == epochs + 1
    numbers = [event["id"] for event in retailer.events]
    assert numbers == sorted(set(numbers))
    assert numbers == [event["id"] for event in retailer.read(0)]
    created = Counter(event["order_id"] for event in retailer.events if event["type"] == "order.created")
    assert created == Counter(retailer.acknowledged.values())

    primary.start()
    wait_until(lambda: primary.has_role("sync"), "the killed node is the synchronous standby")
    with connected_to(primary.url):
        orders = len(retailer.acknowledged)
        wait_until(lambda: Order.objects.count() == orders, "the killed node has replayed everything")
        acknowledged_once(retailer.acknowledged)


def migrate(url: str, folder: Path) -> None:
    """Create the tables as an operator does, with the DATABASE_URL of the service."""
    command = [sys.executable, "manage.py", "migrate", "-v", "0"]
    subprocess.run(command, check=True, cwd=settings.BASE_DIR, env=environment(folder, DATABASE_URL=url))

"""The traffic of partners. It remembers every acknowledged request."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tools.bench.soak.client import ADDRESS, PartyClient, Unexpected
from tools.bench.soak.scenarios import Scenarios
from tools.bench.soak.uploads import Uploader

SKUS = [f"SOAK-{number:02}" for number in range(20)]
STOCK = 1_000_000
CAPTURE = f"fulfillments?limit=20&filter={quote(json.dumps({'fulfillment_state': 'new'}))}"
FILE_ROWS = 200
LONGEST_IMPORT = 300.0
PUSHERS = 2
ORDERS_A_FILE = 12
"""About this many orders arrive during the import of a file, at full speed."""

SCENARIO_THREADS, ORDERS_A_SCENARIO = 2, 8
"""About this many orders arrive during a scenario, at full speed."""


@dataclass
class Seen:
    """The acknowledged requests, and the records that readers received."""

    orders: dict[str, int] = field(default_factory=dict)
    shipped: set[int] = field(default_factory=set)
    imported: dict[int, int] = field(default_factory=dict)
    uploaded: dict[str, str] = field(default_factory=dict)
    events: list[int] = field(default_factory=list)
    created: list[int] = field(default_factory=list)
    stamps: dict[int, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pace:
    """The highest number of orders per second, or None for no limit.

    All other work slows down by the same factor, so a slow run has the same mixture of work.
    """

    orders: float | None = None

    def pause(self, took: float, orders: int) -> float:
        """Return the seconds until a thread's next task, after a task that took `took` seconds.

        `orders` is the number of orders from all threads between the starts of two tasks.
        """
        if self.orders is None:
            return random.uniform(0.02, 0.2)
        # Vary the pause, so that the threads do not all run at the same moments.
        return max(0.0, random.uniform(0.5, 1.5) * orders / self.orders - took)

    def __str__(self) -> str:
        return "as fast as answered" if self.orders is None else f"{self.orders:g} orders a second at most"


class Traffic:
    """Threads that send requests until they are stopped."""

    def __init__(
        self,
        retailer: PartyClient,
        supplier: PartyClient,
        area: Uploader,
        warehouse: int,
        scenarios: Scenarios,
        pace: Pace,
    ) -> None:
        self.retailer, self.supplier, self.area, self.warehouse = retailer, supplier, area, warehouse
        self.scenarios, self.pace = scenarios, pace
        self.seen = Seen()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._numbers = itertools.count(1)
        self._run = f"{time.time_ns():x}"

    def prepare(self) -> None:
        """Create variants with more stock than the soak can sell."""
        self.supplier.create_variants(SKUS)
        self.push_stock()
        self.scenarios.prepare()

    def start(self) -> None:
        often = [*[self.push_order] * PUSHERS, self.ship, self.ship, self.push_stock]
        often += [self.follow_events, self.poll_orders, self.pull]
        work: list[tuple[Callable[[], Any], int]] = [
            *((each, PUSHERS) for each in often),
            *((each, ORDERS_A_FILE) for each in (self.import_data, self.upload_file)),
            *[(self.scenarios.play, ORDERS_A_SCENARIO)] * SCENARIO_THREADS,
        ]
        self._threads = [threading.Thread(target=self._repeat, args=each, daemon=True) for each in work]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop new calls, and wait for the running calls."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def finish(self) -> None:
        """Ship the open fulfillments, and read the feeds to their end."""
        for step in (self.ship, self.follow_events, self.poll_orders):
            while step():
                pass
        self.seen.complaints += self.scenarios.faults()
        for path, digest in self.seen.uploaded.items():
            try:
                content = self.area.read(path)
            except Unexpected as error:
                self.seen.complaints.append(str(error))
                continue
            if hashlib.sha256(content).hexdigest() != digest:
                self.seen.complaints.append(f"the upload {path} has another content now")

    def _repeat(self, work: Callable[[], Any], orders: int) -> None:
        took = 0.0
        while not self._stopping.wait(self.pace.pause(took, orders)):
            began = time.monotonic()
            try:
                work()
            except Unexpected as error:
                self.seen.complaints.append(str(error))
            took = time.monotonic() - began

    def push_order(self) -> None:
        number = f"{self._run}-{next(self._numbers)}"
        skus = random.sample(SKUS, random.randint(1, 3))
        lines = [{"sku": sku, "quantity": 1} for sku in skus]
        body = {"retailer_order_id": number, "shipping_address": ADDRESS, "order_lines": lines}
        answer = self.retailer.call("POST", "orders", body)
        self.seen.orders[number] = answer["order_id"]

    def ship(self) -> int:
        """Capture, accept and ship new fulfillments; return their number."""
        found = self.supplier.call("GET", CAPTURE)
        ours = [each for each in found if each["id"] not in self.seen.shipped]
        for each in ours:
            path = f"fulfillments/{each['id']}/setStatus"
            # Accept 409: two threads ship at the same time, and the other thread may have been first.
            self.supplier.call("PUT", f"{path}/accepted", known=(409,))
            self.supplier.call("PUT", f"{path}/shipped", {"tracking_number": f"T{each['id']}"}, known=(409,))
            self.seen.shipped.add(each["id"])
        return len(ours)

    def push_stock(self) -> None:
        self.supplier.count_stock(self.warehouse, SKUS, STOCK)

    def import_data(self) -> None:
        """Send rows of products in a request and wait for the end of its job."""
        self._watch(self.supplier.call("POST", "importProducts", {"data": self._file()}))

    def upload_file(self) -> None:
        """Upload a file of products by SFTP and wait for its import."""
        lines = self._file()
        content, path = "\n".join(lines).encode(), f"products/{self._run}-{next(self._numbers)}.csv"
        self.area.put(path, content)
        self.seen.uploaded[path] = hashlib.sha256(content).hexdigest()
        self._watch(self.supplier.call("POST", "importProducts", {"file_url": path}))

    def _file(self) -> list[str]:
        number = next(self._numbers)
        rows = [f"FILE-{line:04},Imported in {number},{number % 90 + 1}.50" for line in range(FILE_ROWS)]
        return ["sku,title,retail_price", *rows]

    def _watch(self, job: Any) -> None:
        began = time.monotonic()
        while not job["finished_at"]:
            if self._stopping.wait(0.5) and time.monotonic() - began > LONGEST_IMPORT:
                break
            job = self.supplier.call("GET", f"imports/{job['id']}")
        if job["status"] == "succeeded":
            self.seen.imported[job["id"]] = job["rows_total"]
        else:
            self.seen.complaints.append(f"import {job['id']} is {job['status']}: {job.get('error')}")

    def follow_events(self) -> int:
        """Read the events after the last event that was read; return their number."""
        after = self.seen.events[-1] if self.seen.events else 0
        results = self.retailer.call("GET", f"events?after={after}&limit=200")["results"]
        for event in results:
            self.seen.events.append(event["id"])
            if event["type"] == "order.created":
                self.seen.created.append(event["order_id"])
        return len(results)

    def poll_orders(self) -> int:
        """Read the orders that changed after the newest change that was read; return their number."""
        last = max(self.seen.stamps.values(), default="2020-01-01T00:00:00.000Z")
        path = f"orders?sort=updated_at&limit=200&updated_at__gt={quote(last)}"
        found = self.retailer.call("GET", path)
        orders = found["results"] if isinstance(found, dict) else found
        self.seen.stamps.update({order["id"]: order["updated_at"] for order in orders})
        return len(orders)

    def pull(self) -> None:
        self.retailer.call("GET", "variants?service_type=ecommerce&limit=50")

"""The old code serves while the new code migrates a database with data; then the new code takes over.

The previous release is the newest tag or, without tags, the last commit before a migration.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.faults import clusters
from tools.bench.soak.__main__ import host_key
from tools.bench.soak.client import PartyClient, Tally, Unexpected
from tools.bench.soak.commands import ROOT
from tools.bench.soak.hosts import Host
from tools.bench.soak.previous import UnusableVersion, unpack_last_release
from tools.launcher.embedded.servers import temporary_servers
from tools.launcher.reaper.client import Reaper

pytestmark = [pytest.mark.fault, pytest.mark.program]

NEEDED = {"web", "worker", "ticker", "beat", "sftp"}
"""The parts that the demo needs."""
LONGEST_OUTAGE = 10.0
"""The longest time without an answer, in seconds.

A request waits up to 5 s for a lock, and its client then repeats the request.
"""
KETTLE, LANTERN = "KET-1L", "R-LANTERN"
NEW_WORK = "fulfillments?limit=200"


@pytest.fixture(scope="module")
def previous(tmp_path_factory) -> Path:
    """Unpack the code of the previous release into its own folder."""
    try:
        return unpack_last_release(tmp_path_factory.mktemp("previous"))[0]
    except UnusableVersion as reason:
        pytest.skip(str(reason))


class Upgrade:
    """One database with two hosts: one runs the old code, and the other runs the new code."""

    def __init__(self, previous: Path, home: Path, servers: dict[str, str], reaper: Reaper) -> None:
        self.database = servers["DATABASE_URL"]
        shared = {
            **servers,
            "SECRET_KEY": "upgraded",
            "UPLOADS_DIR": str(home / "uploads"),
            "SFTP_HOST_KEY_FILE": str(host_key(home / "sftp_host_key")),
            "RATE_LIMIT": "off",
        }
        self.old = Host("one", home, previous, shared, reaper)
        self.new = Host("two", home, ROOT, shared, reaper)
        for host in (self.old, self.new):
            host.parts = {name: part for name, part in host.parts.items() if name in NEEDED}
        self.tally, self.give_up = Tally(), threading.Event()

    def manage(self, host: Host, *arguments: str) -> str:
        """Run a command with the code and the environment of a host; return its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=host.root,
            env={**host.environment, "BASE_URL": f"http://127.0.0.1:{host.port}"},
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def demo(self, host: Host) -> Any:
        """Return the content of demo.json for a host."""
        return json.loads(Path(host.environment["DATA_DIR"], "demo.json").read_text())

    def hand_over_keys(self) -> None:
        """Give the new host the keys of the parties."""
        shutil.copy(Path(self.old.environment["DATA_DIR"], "demo.json"), self.new.environment["DATA_DIR"])
        self.manage(self.new, "demo_data", "--write-demo-json")

    def client(self, role: str, name: str) -> PartyClient:
        """Return a client of a party that sends its requests to the old host."""
        party = next(each for each in self.demo(self.old)[role] if each["name"] == name)
        base = f"/v3/{role}/{party['id']}"
        return PartyClient(self.old.port, base, party["api_key"], self.tally, self.give_up)

    def count(self, supplier: str, sku: str) -> None:
        """Push enough stock for the whole test."""
        party = next(each for each in self.demo(self.old)["suppliers"] if each["name"] == supplier)
        warehouse = str(party["warehouses"][0]["id"])
        counts = [{"id": sku, "amount": 10_000}]
        body = {"warehouse_id": warehouse, "id_type": "sku", "inventories": counts}
        self.client("suppliers", supplier).call("POST", "inventory", body)


@pytest.fixture
def upgrade(previous, tmp_path) -> Iterator[Upgrade]:
    with ExitStack() as cleanup:
        reaper = Reaper()
        cleanup.callback(reaper.close)
        cluster = cleanup.enter_context(clusters.running())
        redis = cleanup.enter_context(temporary_servers({"DATABASE_URL": "there is one"}))
        upgrade = Upgrade(previous, tmp_path, {**redis, "DATABASE_URL": cluster.url}, reaper)
        cleanup.callback(upgrade.old.stop)
        cleanup.callback(upgrade.new.stop)
        cleanup.callback(upgrade.give_up.set)
        yield upgrade


def order(number: str, sku: str) -> dict[str, Any]:
    address = {
        "first_name": "Ada",
        "last_name": "Berg",
        "address1": "12 Harbour Street",
        "city": "Portland",
        "state": "ME",
        "zip_code": "04101",
        "country": "US",
    }
    lines = [{"sku": sku, "quantity": 1}]
    return {"retailer_order_id": number, "shipping_address": address, "order_lines": lines}


class Shopper:
    """A retailer that pushes orders and follows events until it is stopped."""

    def __init__(self, client: PartyClient) -> None:
        self.client = client
        self.pushed: dict[str, int] = {}
        self.created: list[int] = []
        self.complaints: list[str] = []
        self._last = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._shop, daemon=True)
        self._thread.start()

    def _shop(self) -> None:
        while not self._stopping.wait(0.1):
            try:
                number = f"UPGRADE-{len(self.pushed)}"
                answer = self.client.call("POST", "orders", order(number, LANTERN))
                self.pushed[number] = answer["order_id"]
                self.follow()
            except Unexpected as error:
                self.complaints.append(str(error))

    def follow(self) -> None:
        """Read the events after the last event that was read."""
        events = self.client.call("GET", f"events?after={self._last}&limit=200")["results"]
        for event in events:
            self._last = event["id"]
            if event["type"] == "order.created":
                self.created.append(event["order_id"])

    def shop_on(self) -> None:
        """Wait until five more orders are pushed."""
        wanted, end = len(self.pushed) + 5, time.monotonic() + 60
        while len(self.pushed) < wanted:
            assert time.monotonic() < end, self.complaints
            time.sleep(0.05)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(60)
        end = time.monotonic() + 60
        while set(self.created) < set(self.pushed.values()) and time.monotonic() < end:
            self.follow()


class OpenOrders:
    """Three orders that the old code leaves unfinished: new, accepted, and with a requested cancellation."""

    def __init__(self, upgrade: Upgrade) -> None:
        self.shop, self.acme = upgrade.client("retailers", "Shop"), upgrade.client("suppliers", "Acme")
        self.supplier = next(
            each for each in upgrade.demo(upgrade.old)["suppliers"] if each["name"] == "Acme"
        )
        names = ("new", "accepted", "canceling")
        self.orders = {
            name: self.shop.call("POST", "orders", order(f"OPEN-{name}", KETTLE))["order_id"]
            for name in names
        }
        found = {each["order_id"]: each["id"] for each in self.acme.call("GET", NEW_WORK)}
        self.fulfillments = {name: found[order_id] for name, order_id in self.orders.items()}
        self.move("accepted", "accepted")
        self.move("canceling", "accepted")
        self.shop.call("POST", f"orders/{self.orders['canceling']}/cancel", {"reason": "Too late"})

    def move(self, name: str, status: str, body: Any = None) -> None:
        path = f"fulfillments/{self.fulfillments[name]}/setStatus/{status}"
        self.acme.call("PUT", path, body)

    def finish(self, port: int) -> None:
        """Finish the three orders at the host with this port."""
        self.shop.port = self.acme.port = port
        self.move("new", "accepted")
        refused = {
            "supplier_id": self.supplier["id"],
            "fulfillment_id": self.fulfillments["canceling"],
            "status": "cancelation not allowed",
        }
        self.acme.call("PUT", f"fulfillments/{self.fulfillments['canceling']}/setStatus", refused)
        for name in self.orders:
            self.move(name, "shipped", {"tracking_number": f"T-{name}"})

    def states(self) -> set[str]:
        return {self.shop.call("GET", f"orders/{pk}")["processing_state"] for pk in self.orders.values()}


def test_every_scenario_continues_during_an_upgrade_of_a_filled_database(upgrade):
    upgrade.manage(upgrade.old, "migrate", "--no-input", "-v0")
    upgrade.manage(upgrade.old, "demo_data", "--with-orders", "--write-demo-json")
    upgrade.old.start()
    upgrade.manage(upgrade.old, "demo")
    upgrade.count("Acme", KETTLE)
    upgrade.count("Rival", LANTERN)
    opened, shopper = OpenOrders(upgrade), Shopper(upgrade.client("retailers", "Boutique"))
    shopper.shop_on()

    upgrade.manage(upgrade.new, "migrate", "--no-input", "-v0")  # the old processes serve
    shopper.shop_on()
    upgrade.manage(upgrade.old, "demo")

    upgrade.new.start()  # both versions serve
    upgrade.hand_over_keys()
    upgrade.manage(upgrade.new, "demo")
    shopper.client.port = upgrade.new.port
    upgrade.old.stop()  # only the new processes serve
    shopper.shop_on()
    opened.finish(upgrade.new.port)
    upgrade.manage(upgrade.new, "demo")
    upgrade.manage(upgrade.new, "finish_upgrade")
    upgrade.manage(upgrade.new, "demo")
    shopper.stop()

    assert shopper.complaints == []
    assert upgrade.tally.longest_outage < LONGEST_OUTAGE
    assert opened.states() == {"completed"}
    with psycopg.connect(upgrade.database) as connection:
        stored = connection.execute(
            "SELECT retailer_order_id, id FROM orders_order WHERE retailer_order_id LIKE 'UPGRADE-%'"
        ).fetchall()
    assert dict(stored) == shopper.pushed
    ours = set(shopper.pushed.values())  # the demo's data has other orders of this retailer
    assert sorted(pk for pk in shopper.created if pk in ours) == sorted(ours)
    assert "Every counter agrees" in upgrade.manage(upgrade.new, "reconcile")

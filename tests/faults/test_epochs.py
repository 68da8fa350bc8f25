"""After a promotion or a restore, clients with values from before see all new changes (contract 16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from events.models import Epoch
from tests.client import ApiClient
from tests.faults import clusters
from tests.faults.clusters import Cluster, connected_to
from tests.faults.conftest import database_url
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

SELLING = {"service_type": "ecommerce"}
LOST = 12
"""The number of changes that the database lacks after a restore or a promotion.

It is larger than the number of changes that the test makes afterwards.
"""


@dataclass
class Outsider:
    """A retailer and a supplier with the values that they keep between calls."""

    retailer: ApiClient
    supplier: ApiClient
    variant: int
    order: str = ""
    event: int = 0
    tag: str = ""
    since: str = ""
    stamp: str = ""
    ids: list[int] = field(default_factory=list)

    def change(self, times: int, title: str) -> None:
        """Push orders, and change the variant's title."""
        for number in range(times):
            answer = self.retailer.post("orders", an_order({"sku": "A-1", "quantity": 1}))
            assert answer.status_code == 201, answer.content
            self.ids.append(answer.json()["order_id"])
            body = {"title": f"{title} {number}"}
            assert self.supplier.request("PATCH", f"variants/{self.variant}", body).status_code == 200

    def look(self) -> None:
        """Read the events, the variants and the orders. Keep the newest positions for the next reads."""
        self.event = max([event["id"] for event in self.events()], default=self.event)
        pulled = self.pull()
        self.tag, self.since = pulled["ETag"], pulled["Updated-Since"]
        self.stamp = max([order["updated_at"] for order in self.orders()], default=self.stamp)

    def events(self) -> list[dict[str, Any]]:
        """Return all events after the last event that was read."""
        found = self.retailer.get("events", {"after": self.event, "limit": 100})
        assert found.status_code == 200, found.content
        return list(found.json()["results"])

    def orders(self) -> list[dict[str, Any]]:
        params = {"updated_at__gt": self.stamp} if self.stamp else {}
        found = self.retailer.get("orders", params)
        assert found.status_code == 200, found.content
        answer = found.json()
        return list(answer["results"] if isinstance(answer, dict) else answer)

    def pull(self, **headers: str) -> Any:
        return self.retailer.get("variants", SELLING, **headers)

    def changed_groups(self) -> int:
        answer = self.retailer.get("variants", {**SELLING, "updated_since": self.since})
        return b"".join(answer.streaming_content).count(b'"variants"')


@pytest.fixture
def outsider(acme, shop, client_for, a_variant) -> Outsider:
    variant = a_variant(acme, "A-1", stock=1000)
    a_variant(acme, "A-2", stock=5)
    a_variant(acme, "A-3", stock=5)
    return Outsider(client_for(shop), client_for(acme), variant.pk)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with clusters.running() as cluster:
        yield cluster


@pytest.fixture
def elsewhere(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    """Create an empty database in another cluster; return its URL."""
    return clusters.another_database(cluster, request.node.name[:60])


@pytest.fixture
def restored(outsider: Outsider, cluster: Cluster, elsewhere: str, tmp_path: Path) -> Iterator[Outsider]:
    """Restore an older dump, so that the client has seen more than the database contains."""
    outsider.change(2, "before the dump")
    outsider.look()
    clusters.dump(database_url(), tmp_path / "dump", cluster.bin)
    outsider.change(LOST, "lost")
    outsider.look()
    clusters.restore(tmp_path / "dump", elsewhere, cluster.bin)
    with connected_to(elsewhere):
        yield outsider


def nothing_is_hidden(outsider: Outsider) -> None:
    """Check that the client sees a new change.

    Numbers that continue from the restored data would be below the numbers that the client has seen.
    """
    seen = set(outsider.ids)
    assert outsider.pull(If_None_Match=outsider.tag).status_code == 200
    assert outsider.changed_groups() == 3  # the client may have seen the lost changes
    outsider.change(1, "new")
    new = outsider.ids[-1]

    assert new not in seen
    assert [event["order_id"] for event in outsider.events()] == [new, new]
    assert outsider.changed_groups() == 3
    assert [order["id"] for order in outsider.orders()] == [new]

    outsider.look()
    assert outsider.events() == []
    assert outsider.pull(If_None_Match=outsider.tag).status_code == 304
    assert outsider.changed_groups() == 0
    outsider.change(1, "newer")
    assert outsider.pull(If_None_Match=outsider.tag).status_code == 200
    assert outsider.changed_groups() == 1


def test_a_dump_that_is_restored_elsewhere_is_noticed(restored):
    nothing_is_hidden(restored)


def make_it_look_the_same() -> None:
    """Give the restored database the identity of the database that was dumped."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE events_epoch SET incarnation = incarnation()")


@pytest.fixture
def _unseen(monkeypatch, restored: Outsider) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("events.epochs.IS_ANOTHER", "SELECT false")
        make_it_look_the_same()


@pytest.mark.usefixtures("_unseen")
def test_without_a_new_epoch_clients_would_miss_new_changes(restored):
    """Control: without a new epoch, numbers and ids are used a second time."""
    restored.change(1, "new")

    assert restored.events() == []  # the numbers of the new events were used before
    assert restored.ids[-1] in restored.ids[:-1]  # the new id was used before, too


@pytest.mark.usefixtures("_unseen")
def test_an_unnoticed_restore_is_repaired_by_the_command(restored, capsys):
    call_command("new_epoch", reason="restored in place")

    assert "has begun" in capsys.readouterr().out
    assert Epoch.objects.latest("id").reason == "restored in place"
    nothing_is_hidden(restored)


def test_a_standby_that_is_promoted_is_noticed(outsider, cluster, elsewhere, tmp_path):
    clusters.dump(database_url(), tmp_path / "dump", cluster.bin)
    clusters.restore(tmp_path / "dump", elsewhere, cluster.bin)
    with connected_to(elsewhere):
        outsider.change(2, "replicated")
        outsider.look()
        standby = cluster.standby(cluster.data.parent.with_name("standby"))
        try:
            standby.wait_until_it_follows(cluster)
            standby.stop()
            outsider.change(LOST, "lost")
            outsider.look()
            connection.close()
            cluster.stop(killed=True)
            standby.start()
            standby.promote()
            with connected_to(standby.named(elsewhere)):
                epochs = Epoch.objects.count()
                nothing_is_hidden(outsider)
                assert Epoch.objects.count() == epochs
        finally:
            connection.close()
            standby.stop()
            cluster.start()


def test_a_connection_that_outlives_the_promotion_issues_no_number_twice(restored):
    """Behind a pooler, no process reconnects after a promotion, so each new number checks the epoch."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE events_epoch SET incarnation = 'that of the old primary'")
    nothing_is_hidden(restored)
    assert Epoch.objects.exclude(incarnation="that of the old primary").count() == 1

"""Reads over a second alias: which reads use it, and when the primary answers instead.

The alias connects to the tests' own server, which answers as if it were a standby.
tests/faults/test_standbys.py has a real standby.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from accounts.models import ApiKey
from api import caller
from backoffice.market import sum_up
from backoffice.models import ServicePart
from backoffice.navigation.counting import count_waiting
from catalog.snapshot import Snapshot, take_snapshot
from config.database import standby_databases
from fastdb.standbys import floors, states
from fastdb.standbys.reads import TooOld, reads_from_standby
from fastdb.standbys.states import PrimaryState, StandbyState
from orders.models import Order
from tests.standby_alias import ALIAS, answering, forget_positions, forget_states, standby_alias

pytestmark = pytest.mark.django_db(transaction=True)

SELLING = {"service_type": "ecommerce"}


def as_standby(position: str = states.POSITION, *, in_recovery: bool = True) -> str:
    return f"SELECT {in_recovery}, {position}, extract(epoch FROM clock_timestamp())::float8"


@pytest.fixture
def standby(monkeypatch) -> Iterator[None]:
    """Use the tests' own server as a standby that has always replayed everything."""
    monkeypatch.setattr(states, "STANDBY", as_standby())
    with standby_alias():
        take_snapshot()
        yield


@pytest.fixture
def held(standby, monkeypatch) -> None:
    """Keep the standby at its current position."""
    monkeypatch.setattr(states, "STANDBY", as_standby(str(states.primary_position())))


@reads_from_standby
def read_alias() -> str:
    Order.objects.first()
    return connection.alias


def test_the_listed_reads_of_the_api_use_the_standby(standby, acme, shop, client_for):
    supplier, retailer = client_for(acme), client_for(shop)
    for client, path, params in (
        (retailer, "variants", SELLING),
        (retailer, "variants", {**SELLING, "limit": 10}),
        (supplier, "inventory/movements", {}),
        (supplier, "scorecard", {}),
    ):
        with CaptureQueriesContext(connections[ALIAS]) as statements, answering("standby"):
            answer = client.get(path, params)
            assert answer.status_code == 200
            assert answer.streaming is False or list(answer.streaming_content)
        assert statements.captured_queries, path


def test_the_listed_reads_of_people_use_the_standby(standby, operator, ana, shop):
    for browser, path in (
        (operator, "/admin/search/?q=lantern&all=1"),
        (operator, "/admin/orders/order/export.csv"),
        (operator, "/admin/performance/"),
        (ana, "/portal/orders/?file=csv"),
        (ana, "/portal/performance/"),
    ):
        with answering("standby"):
            answer = browser.get(path)
            assert answer.status_code == 200, path
            assert not answer.streaming or b"".join(answer.streaming_content)


def test_the_counts_use_the_standby(standby, acme):
    with answering("standby"):
        count_waiting()
    with answering("standby"):
        sum_up()


def test_a_part_that_falls_silent_is_stored_by_the_primary_while_the_standby_counts(standby, monkeypatch):
    heard_at = timezone.now() - timedelta(minutes=5)
    monkeypatch.setattr("backoffice.desk.parts._silent", lambda _: {("ticker", "web-1"): heard_at})

    with answering("standby"):
        counts = count_waiting()

    assert (counts["part"], str(ServicePart.objects.get())) == ("1", "ticker on web-1")


def test_other_reads_and_all_changes_use_the_primary(standby, acme, shop, a_variant, client_for):
    variant = a_variant(acme, "A-1", stock=5)
    with CaptureQueriesContext(connections[ALIAS]) as statements:
        assert client_for(acme).get("variants").status_code == 200
        assert client_for(acme).get("inventory").status_code == 200
        assert client_for(shop).get("orders").status_code == 200
        changed = client_for(acme).request("PATCH", f"variants/{variant.pk}", {"title": "New"})
        assert changed.status_code == 200
    assert statements.captured_queries == []


def test_a_transaction_stays_on_the_primary(standby):
    assert read_alias() == ALIAS
    with transaction.atomic():
        assert read_alias() == "default"
    assert connection.alias == "default"


def test_without_the_setting_nothing_is_asked(django_assert_num_queries, monkeypatch):
    monkeypatch.setattr(floors, "_redis", lambda: pytest.fail("Redis was asked"))
    with django_assert_num_queries(1):
        assert read_alias() == "default"


def test_a_read_of_the_standby_cannot_change_anything(standby):
    @reads_from_standby
    def change() -> None:
        Order.objects.update(notes=[])

    with pytest.raises(InternalError, match="read-only"):
        change()


def test_a_supplier_reads_back_its_own_change_and_others_use_the_standby(
    held, acme, rival, a_variant, client_for
):
    variant = a_variant(acme, "A-1")
    mine, theirs = client_for(acme), client_for(rival)
    assert mine.request("PATCH", f"variants/{variant.pk}", {"title": "New"}).status_code == 200
    with answering("primary", "older"):
        assert mine.get("inventory/movements").status_code == 200
    with answering("standby"):
        assert theirs.get("inventory/movements").status_code == 200


def test_an_operator_reads_back_their_own_change(held, operator, acme):
    forget_positions()
    with answering("standby"):
        operator.get("/admin/search/?q=lantern&all=1")
    operator.post("/admin/desk/note/", {})
    with answering("primary", "older"):
        operator.get("/admin/search/?q=lantern&all=1")


def test_after_an_answer_of_the_primary_no_older_answer_follows(held, acme, client_for, monkeypatch):
    forget_positions()
    client = client_for(acme)
    take_snapshot(durable=True)  # the standby has not replayed this snapshot
    with monkeypatch.context() as restarting, answering("primary", "other"):
        restarting.setattr(states, "STANDBY", as_standby(in_recovery=False))
        client.get("inventory/movements")
    with answering("primary", "older"):
        client.get("inventory/movements")


def test_without_redis_clients_read_from_the_primary_and_ticks_from_the_standby(
    standby, acme, client_for, monkeypatch
):
    class Away:
        def __getattr__(self, name: str) -> object:
            raise RedisAway(name)

    monkeypatch.setattr(floors, "_redis", Away)
    with answering("primary", "unsure"):
        assert client_for(acme).get("inventory/movements").status_code == 200
    caller.begin()  # a tick has no client, so the standby may answer
    with answering("standby"):
        assert read_alias() == ALIAS


def test_the_later_of_two_positions_counts(standby):
    floors.raise_floor("supplier:7", 2_000)
    floors.raise_floor("supplier:7", 1_000)
    assert floors.floor_of("supplier:7") == 2_000


def test_a_revoked_key_is_refused_at_once(standby, acme, client_for):
    client = client_for(acme)
    with answering("standby"):
        assert client.get("inventory/movements").status_code == 200
    ApiKey.objects.filter(supplier=acme).update(expires_at="2020-01-01T00:00:00Z")
    assert client.get("inventory/movements").status_code == 401


@pytest.mark.parametrize("error", [TooOld(), OperationalError("the connection is lost")])
def test_a_lost_read_runs_again_on_the_primary(standby, error):
    aliases = []

    @reads_from_standby
    def lose() -> str:
        aliases.append(connection.alias)
        if connection.alias == ALIAS:
            raise error
        return "answer"

    assert lose() == "answer"
    assert aliases == [ALIAS, "default"]


def test_a_statement_above_the_time_limit_is_not_repeated(standby):
    aliases = []

    @reads_from_standby
    def take_long() -> None:
        aliases.append(connection.alias)
        raise OperationalError from psycopg.errors.QueryCanceled()

    with pytest.raises(OperationalError):
        take_long()
    assert aliases == [ALIAS]


def test_a_server_out_of_recovery_is_no_standby(standby, monkeypatch):
    monkeypatch.setattr(states, "STANDBY", as_standby(in_recovery=False))
    with answering("primary", "other"):
        assert read_alias() == "default"


def test_a_server_of_another_epoch_is_no_standby(standby, monkeypatch):
    monkeypatch.setattr(states.Epochs, "standby", "'another'")
    with answering("primary", "other"):
        assert read_alias() == "default"


def test_several_standbys_take_turns_and_their_positions_are_noted(standby, acme, client_for):
    with standby_alias("standby_2"):
        used = [read_alias() for _ in range(4)]
        assert sorted(used) == [ALIAS, ALIAS, "standby_2", "standby_2"]
        client_for(acme).get("inventory/movements")
        assert floors.floor_of(caller.verdict().party)


@pytest.mark.parametrize(
    ("position", "replayed_at", "seconds"),
    [(100, None, 0.0), (99, None, float("inf")), (99, 990.0, 10.0), (99, 1001.0, 0.0)],
)
def test_the_delay_is_the_age_of_the_oldest_commit_that_may_be_missing(position, replayed_at, seconds):
    primary = PrimaryState(100, 1000.0, "e", time.monotonic())
    state = StandbyState(True, position, replayed_at, "e")
    assert state.seconds_behind(primary) == pytest.approx(seconds, abs=0.1)


@pytest.mark.parametrize(
    ("later", "earlier", "covers"),
    [
        ("10:10:", "10:10:", True),
        ("10:12:10", "10:11:10", True),
        ("10:12:10", "10:11:", False),
        ("10:12:11", "10:11:", True),
        ("9:10:", "10:11:", False),
        ("10:10:", "0:0:", True),
    ],
)
def test_a_snapshot_covers_an_earlier_one(later, earlier, covers):
    one, other = Snapshot.parse(later), Snapshot.parse(earlier)
    assert one is not None
    assert other is not None
    assert one.covers(other) is covers


def test_a_pull_without_a_replicated_snapshot_uses_the_primary(standby, shop, client_for):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM catalog_pulse")
    with answering("primary", "older"):
        assert client_for(shop).get("variants", SELLING).status_code == 200


def test_the_urls_of_standbys_are_read_with_several_hosts_and_limits():
    urls = "postgresql://x:y@postgres-1:5432,postgres-2:6432/db, postgresql://x:y@three/db"
    databases = standby_databases(urls, limited=True)
    assert [*databases] == ["standby_1", "standby_2"]
    assert databases["standby_1"]["OPTIONS"]["host"] == "postgres-1,postgres-2"
    options = databases["standby_2"]["OPTIONS"]
    assert options["connect_timeout"] == 2
    assert "default_transaction_read_only=on" in options["options"]
    assert "statement_timeout=0s" in options["options"]
    assert standby_databases("", limited=True) == {}


def test_a_standby_that_does_not_answer_is_not_asked_again_for_some_seconds(standby, monkeypatch):
    asked = []

    def silent(session: object) -> StandbyState:
        asked.append(session)
        raise OperationalError("The standby has not answered in time.")

    monkeypatch.setattr("fastdb.standbys.choosing.standby_state", silent)
    with answering("primary", "away", times=2):
        assert read_alias() == read_alias() == "default"
    assert len(asked) == 1
    forget_states()
    read_alias()
    assert len(asked) > 1

"""Reads from a real standby: it serves, is behind, dies, cancels statements, and is promoted."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dj_database_url
import psycopg
import pytest
from django.db import connection, connections
from django.test import TransactionTestCase, override_settings

from accounts.models import ApiKey
from assortment import partners
from assortment import pull as pulling
from catalog.snapshot import take_snapshot
from config import watching
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory
from tests.faults import clusters
from tests.faults.clusters import ADDRESS, Cluster, connected_to
from tests.faults.conftest import database_url
from tests.standby_alias import ALIAS, answering, forget_positions, forget_states, standby_alias

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

SELLING = {"service_type": "ecommerce"}


@dataclass
class ServerPair:
    """A primary and its standby, with a retailer that pulls and a supplier that changes titles."""

    primary: Cluster
    standby: Cluster
    url: str
    retailer: ApiClient
    supplier: ApiClient
    variant: int

    def change(self, title: str) -> None:
        answer = self.supplier.request("PATCH", f"variants/{self.variant}", {"title": title})
        assert answer.status_code == 200, answer.content

    def follow(self) -> None:
        """Wait until the standby has replayed everything, and forget the known states of both servers."""
        self.standby.wait_until_it_follows(self.primary)
        forget_states()

    def pull(self, params: dict[str, Any] | None = None, **headers: str) -> Any:
        return self.retailer.get("variants", {**SELLING, **(params or {})}, **headers)

    def titles(self, answer: Any) -> set[str]:
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        groups = json.loads(content)
        return {group["title"] for group in groups}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Pause the replay of the standby during the block."""
        self.run("SELECT pg_wal_replay_pause()")
        try:
            with override_settings(REPLICA_MAX_LAG=600.0):
                yield
        finally:
            self.run("SELECT pg_wal_replay_resume()")

    def run(self, statement: str) -> None:
        with psycopg.connect(self.standby.named(self.url), autocommit=True) as session:
            session.execute(statement)


@pytest.fixture(scope="module")
def servers(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Cluster, Cluster, str]]:
    """Run a primary with the tests' schema and its standby. Yield both, and the URL of the database."""
    dump = tmp_path_factory.mktemp("schema") / "dump"
    with clusters.running() as primary:
        url = clusters.another_database(primary, "exchange_reads")
        with django_db_blocker.unblock():
            clusters.dump(database_url(), dump, primary.bin)
        clusters.restore(dump, url, primary.bin)
        standby = primary.standby(primary.data.parent.with_name("standby"))
        try:
            yield primary, standby, url
        finally:
            standby.stop()


@pytest.fixture
def pair(servers: tuple[Cluster, Cluster, str], request: pytest.FixtureRequest) -> Iterator[ServerPair]:
    primary, standby, url = servers
    with connected_to(url), standby_alias(**address_of(standby, url)):
        client_for, a_variant, shop, acme = map(
            request.getfixturevalue, ("client_for", "a_variant", "shop", "acme")
        )
        for number in range(9):
            a_variant(acme, f"A-{number}", stock=10)
        variant = a_variant(acme, "A-9", stock=10, title="first")
        take_snapshot(durable=True)
        found = ServerPair(primary, standby, url, client_for(shop), client_for(acme), variant.pk)
        try:
            found.follow()
            yield found
        finally:
            # The database outlives the test, so empty it as the tests' own database is emptied.
            TransactionTestCase._fixture_teardown(None)  # type: ignore[attr-defined]


def address_of(standby: Cluster, url: str) -> dict[str, Any]:
    found = dj_database_url.parse(standby.named(url))
    return {key: value for key, value in found.items() if key in ADDRESS}


def test_the_standby_serves_pulls_pages_and_movements(pair):
    with answering("standby"):
        whole = pair.pull()
    assert "first" in pair.titles(whole)
    with answering("standby"):
        assert pair.pull(If_None_Match=whole["ETag"]).status_code == 304
    with answering("standby"):
        assert pair.titles(pair.pull({"updated_since": whole["Updated-Since"]})) == set()
    with answering("standby", times=2):
        page = pair.pull({"limit": 6})
        assert len(page.json()) == 6
        following = page["Link"].partition("<")[2].partition(">")[0]
        rest = pair.retailer.get(f"/{following.partition('://')[2].partition('/')[2]}")
    assert len(rest.json()) == 4
    with answering("standby"):
        assert pair.supplier.get("inventory/movements").status_code == 200


def test_a_change_reaches_the_client_through_the_standby(pair):
    first = pair.pull()
    pair.titles(first)
    pair.change("second")
    pair.follow()
    with answering("standby"):
        news = pair.pull({"updated_since": first["Updated-Since"]}, If_None_Match=first["ETag"])
    assert pair.titles(news) == {"second"}


def test_a_supplier_reads_its_own_change_and_a_client_never_an_older_answer(pair):
    with pair.held():
        pair.change("second")
        with answering("primary", "older"):
            assert pair.supplier.get("inventory/movements").status_code == 200
        with answering("standby"):  # another client may read a state that is some seconds old
            assert "first" in pair.titles(pair.pull())

        with override_settings(STANDBYS=[]):
            new = pair.pull()
            assert "second" in pair.titles(new)
        forget_positions()  # only the values that the client sends show its position
        with answering("primary", "older"):
            assert pair.pull(If_None_Match=new["ETag"]).status_code == 304
        forget_positions()
        with answering("primary", "older"):
            assert "first" not in pair.titles(pair.pull({"updated_since": new["Updated-Since"]}))
    pair.follow()
    with answering("standby"):
        assert pair.pull(If_None_Match=new["ETag"]).status_code == 304


def test_a_page_is_not_older_than_the_page_before_it(pair):
    with pair.held():
        pair.change("second")
        with override_settings(REPLICA_MAX_LAG=0.0):
            forget_states()
            page = pair.pull({"limit": 6})
        forget_positions()
        following = page["Link"].partition("<")[2].partition(">")[0]
        with answering("primary", "older"):
            rest = pair.retailer.get(f"/{following.partition('://')[2].partition('/')[2]}")
    assert "second" in pair.titles(rest) | pair.titles(page)


def test_a_standby_that_is_too_far_behind_is_not_used(pair):
    with pair.held(), override_settings(REPLICA_MAX_LAG=0.3):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.4)")
        pair.change("second")
        forget_states()
        with answering("primary", "behind"):
            assert "second" in pair.titles(pair.pull())
    pair.follow()
    with answering("standby"):
        assert "second" in pair.titles(pair.pull())


def test_a_dead_standby_is_left_out_and_used_again_when_it_is_back(pair, monkeypatch):
    with answering("standby"):
        pair.titles(pair.pull())
    pair.standby.stop(killed=True)
    try:
        with answering("primary", "away", times=2):
            assert "first" in pair.titles(pair.pull())
            assert "first" in pair.titles(pair.pull())
    finally:
        pair.standby.start()
    pair.follow()
    with answering("standby"):
        pair.titles(pair.pull())


def test_a_frozen_standby_delays_one_read_by_a_second(pair):
    with answering("standby"):
        pair.titles(pair.pull())
    session = connections[ALIAS].connection.info.backend_pid
    os.kill(session, signal.SIGSTOP)
    try:
        with answering("primary", "away"):
            assert "first" in pair.titles(pair.pull())
    finally:
        os.kill(session, signal.SIGCONT)


def test_a_pull_whose_standby_dies_continues_at_the_primary(pair, monkeypatch):
    monkeypatch.setattr(pulling.Pull.read, "__defaults__", (pulling.START, 3))
    answer = pair.pull()
    chunks = iter(answer.streaming_content)
    begin = next(chunks)
    pair.standby.stop(killed=True)
    try:
        groups = json.loads(begin + b"".join(chunks))
    finally:
        pair.standby.start()
    assert [group["model"] for group in groups] == [f"A-{number}" for number in range(10)]


def test_a_conflict_with_replay_runs_the_read_on_the_primary(pair, monkeypatch):
    own, calls = partners.partners_of, []

    def partners_meet_a_conflict(*args: Any) -> Any:
        calls.append(connection.alias)
        if connection.alias == ALIAS:
            with connection.cursor() as cursor:
                cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$")
        return own(*args)

    monkeypatch.setattr(pulling, "partners_of", partners_meet_a_conflict)
    with answering("primary", "away"):
        assert "first" in pair.titles(pair.pull())
    assert calls == [ALIAS, "default"]


@pytest.fixture
def another_standby(pair: ServerPair, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    folder = pair.primary.data.parent.with_name(f"other_{abs(hash(request.node.name))}")
    standby = pair.primary.standby(folder)
    try:
        standby.wait_until_it_follows(pair.primary)
        yield standby
    finally:
        connection.close()
        standby.stop()


def test_a_promoted_standby_answers_no_reads_and_changes_nothing(pair, another_standby):
    with (
        standby_alias("standby_2", **address_of(another_standby, pair.url)),
        override_settings(STANDBYS=["standby_2"]),
    ):
        with answering("standby"):
            pair.titles(pair.pull())
        another_standby.promote()
        with answering("primary", "other"):
            assert "first" in pair.titles(pair.pull())
        promoted = connections["standby_2"].connection
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            promoted.execute("DELETE FROM catalog_departure")


def test_a_standby_of_the_old_primary_answers_no_reads_after_the_promotion_of_another(pair, another_standby):
    another_standby.promote()
    with connected_to(another_standby.named(pair.url)):
        forget_states()
        with answering("primary", "other"):
            assert "first" in pair.titles(pair.pull())


def test_a_revoked_key_is_refused_at_once(pair, shop):
    key, secret = IssuedKeyFactory.create(party=shop)
    client = ApiClient(secret, pair.retailer.base)
    pair.follow()
    with pair.held():
        with answering("standby"):
            assert client.get("variants", SELLING).status_code == 200
        ApiKey.objects.filter(pk=key.pk).update(expires_at="2020-01-01T00:00:00Z")
        assert client.get("variants", SELLING).status_code == 401


def test_the_metrics_show_the_delay_and_the_share_of_reads(pair, monkeypatch):
    monkeypatch.setattr(watching, "FRESH", -1.0)
    pair.titles(pair.pull())
    text = ApiClient().get("/metrics").content.decode()
    assert f'exchange_standby_up{{standby="{ALIAS}"}} 1.0' in text
    assert f'exchange_standby_lag_seconds{{standby="{ALIAS}"}}' in text
    assert 'exchange_standby_reads_total{reason="",server="standby"}' in text

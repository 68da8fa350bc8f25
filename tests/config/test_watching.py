"""The metrics of /metrics. The dashboard and the alerts use only these metrics."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from redis.exceptions import RedisError

from api import facts, signs_of_life
from backoffice.backup_schedule import NAME, BackupSchedule
from backoffice.backups import ABOUT
from backoffice.management.commands.keep_backups import facts_of
from config import watching
from config.health.worker import redis_client
from events.models import Delivery
from events.webhooks.relay import relay
from imports.models import Status
from inventory.models import Warehouse
from tests.client import ApiClient
from tests.factories import ImportJobFactory, WebhookFactory
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

DEPLOY = Path(settings.BASE_DIR) / "deploy"
RULES, DASHBOARD = DEPLOY / "prometheus/exchange.rules.yml", DEPLOY / "grafana/exchange.json"
PROMTOOL = shutil.which("promtool") or ""


@pytest.fixture(autouse=True)
def _asked_afresh(monkeypatch):
    monkeypatch.setattr(watching, "FRESH", -1.0)
    with redis_client() as client:
        client.delete(signs_of_life.KEY)


def scraped() -> str:
    text: str = ApiClient().get("/metrics").content.decode()
    return text


def values(name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a metric by the values of its labels. The labels are sorted by name."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(scraped())
        for sample in family.samples
        if sample.name == name
    }


def test_orders_are_counted_by_state_and_the_oldest_unanswered_has_an_age(acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=10)
    for _ in range(2):
        client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    answer = client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    client_for(shop).post(f"orders/{answer.json()['order_id']}/cancel", {"reason": "no"})

    orders = values("exchange_orders")
    assert (orders["received",], orders["canceling",] + orders["canceled",]) == (2, 1)
    assert sum(orders.values()) == 3
    assert values("exchange_fulfillment_oldest_unanswered_seconds")["new",] >= 0


def test_imports_that_wait_are_counted_with_the_age_of_the_oldest(acme):
    ImportJobFactory.create(supplier=acme, status=Status.QUEUED, created_at="2026-01-01T00:00:00Z")
    ImportJobFactory.create(supplier=acme, status=Status.SUCCEEDED)

    assert values("exchange_imports") == {("queued",): 1, ("running",): 0, ("awaiting_approval",): 0}
    ages = values("exchange_import_oldest_seconds")
    assert ages["queued",] > 86_400
    assert ages["running",] == 0


def test_a_supplier_has_the_age_of_its_last_good_feed_of_each_kind(acme, rival, a_variant, client_for):
    done = {"supplier": acme, "kind": "products", "finished_at": "2026-01-01T00:00:00Z"}
    ImportJobFactory.create(status=Status.SUCCEEDED, **done)
    ImportJobFactory.create(status=Status.FAILED, **done)
    variant = a_variant(rival, "R-1")
    warehouse = Warehouse.objects.get(supplier=rival, is_default=True)
    count = {
        "warehouse_id": warehouse.pk,
        "id_type": "sku",
        "inventories": [{"id": variant.sku, "amount": 3}],
    }
    assert client_for(rival).post("inventory", count).status_code == 200
    client_for(rival).get("events")  # a read of the feed gives the event its number

    ages = values("exchange_feed_age_seconds")
    of_acme, of_rival = ("products", str(acme.pk)), ("push", str(rival.pk))
    assert set(ages) == {of_acme, of_rival}
    assert ages[of_acme] > 86_400 > ages[of_rival]


def test_events_without_a_number_in_the_feed_are_counted(acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=1)
    client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    assert values("exchange_events_unpublished")[()] > 0
    client_for(shop).get("events")
    assert values("exchange_events_unpublished") == {(): 0}
    assert values("exchange_event_lag_seconds") == {(): 0}


def test_waiting_deliveries_are_counted_with_the_lag_of_sendable_ones(acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=10)
    WebhookFactory.create(retailer=shop)
    client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    client_for(shop).get("events")  # a read of the feed gives the events their numbers
    assert values("exchange_webhook_lag_seconds")[()] > 0  # no relay has created deliveries for the events
    assert values("exchange_webhook_deliveries") == {("waiting",): 0, ("dead",): 0}

    relay()
    waiting = values("exchange_webhook_deliveries")["waiting",]
    assert waiting > 0
    assert values("exchange_webhook_lag_seconds")[()] > 0  # no process sends deliveries
    Delivery.objects.update(next_attempt_at=timezone.now() + timedelta(hours=1))
    # Deliveries that wait for their next attempt do not count: their receiver was down.
    assert values("exchange_webhook_lag_seconds") == {(): 0}
    Delivery.objects.update(status="dead", next_attempt_at=None)
    assert values("exchange_webhook_deliveries") == {("waiting",): 0, ("dead",): waiting}


def test_each_part_has_metrics_of_its_age_its_memory_and_its_work(monkeypatch):
    now = time.time()
    monkeypatch.setattr("api.signs_of_life.time.time", lambda: now)
    signs_of_life.give("sftp", sessions=7)
    signs_of_life.give("web", threads=8, busy=3)
    signs_of_life.give("beat")

    assert list(values("exchange_sftp_sessions").values()) == [7]
    assert list(values("exchange_web_threads_busy").values()) == [3]
    assert {part for _, part in values("exchange_part_age_seconds")} == {"sftp", "web", "beat"}
    assert [round(age) for age in values("exchange_part_age_seconds").values()] == [0, 0, 0]
    assert min(values("exchange_part_memory_bytes").values()) > 1_000_000


def test_the_age_of_a_silent_part_grows_and_its_process_is_not_counted(monkeypatch):
    now = time.time()
    monkeypatch.setattr("api.signs_of_life.time.time", lambda: now - 100)
    signs_of_life.give("beat")
    monkeypatch.setattr("api.signs_of_life.time.time", lambda: now)

    assert [round(age) for age in values("exchange_part_age_seconds").values()] == [100]
    assert list(values("exchange_part_processes").values()) == [0]


def test_without_redis_the_other_metrics_are_shown(monkeypatch):
    def gone():
        raise RedisError

    monkeypatch.setattr(watching, "all_signs", gone)
    assert values("exchange_redis_up") == {(): 0}
    assert values("exchange_orders_open") == {(): 0}


def test_a_failed_query_is_named_and_the_other_metrics_are_shown(monkeypatch):
    def slow(cursor):
        raise DatabaseError

    monkeypatch.setattr(facts, "_questions", [slow, *facts._questions])
    assert values("exchange_watching_failed") == {("slow",): 1}
    assert values("exchange_orders_open") == {(): 0}


def test_scrapes_shortly_after_each_other_read_the_facts_once(monkeypatch):
    monkeypatch.setattr(watching, "FRESH", 60.0)
    asked = []

    def ask():
        asked.append(1)
        return [], []

    monkeypatch.setattr(watching, "all_facts", ask)
    standing = watching.ServiceCollector()
    for _ in range(3):
        list(standing.collect())
    assert asked == [1]


def test_dashboard_and_alerts_name_only_existing_metrics():
    there = set(re.findall(r"^# TYPE (\w+)", scraped(), re.MULTILINE))
    there |= {f"{name}_bucket" for name in there}
    for text in (RULES.read_text(), json.dumps(json.loads(DASHBOARD.read_text()))):
        named = set(re.findall(r"\bexchange_[a-z_]+", text))
        assert len(named) > 8
        assert named <= there


def test_every_metric_is_used_in_an_alert_or_the_dashboard():
    text = RULES.read_text() + DASHBOARD.read_text()
    assert [name for name in watching.METRICS if name not in text] == []


@pytest.mark.skipif(not PROMTOOL, reason="there is no promtool here (Debian: prometheus)")
@pytest.mark.parametrize("command", [["check", "rules", str(RULES)], ["check", "metrics"]])
def test_prometheus_own_tool_accepts_the_metrics(command):
    given = scraped() if command == ["check", "metrics"] else ""
    done = subprocess.run([PROMTOOL, *command], input=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def facts_after(tmp_path):
    """Return a function that makes a backup of this age, and returns the facts of the backup process."""

    def make(age):
        folder = tmp_path / (timezone.now() - age).strftime(NAME)
        folder.mkdir()
        (folder / ABOUT).touch()
        return facts_of(BackupSchedule(tmp_path, timedelta(days=1), kept=1))

    return make


def test_the_age_of_the_newest_backup_is_a_metric_of_its_host(facts_after):
    signs_of_life.give("backup", **facts_after(timedelta(hours=30)))
    ((_, seconds),) = values("exchange_backup_age_seconds").items()
    assert 30 * 3600 <= seconds < 30 * 3600 + 60


def test_a_backup_folder_that_cannot_be_read_gives_no_age():
    signs_of_life.give("backup")

    assert values("exchange_backup_age_seconds") == {}


def test_a_dead_process_gives_no_age_of_its_backups(monkeypatch, facts_after):
    signs_of_life.give("backup", **facts_after(timedelta(hours=1)))
    monkeypatch.setattr(signs_of_life, "ALIVE_FOR", 0.0)

    assert values("exchange_backup_age_seconds") == {}


def test_two_backup_processes_of_a_host_report_the_newest_backup(monkeypatch, facts_after):
    signs_of_life.give("backup", **facts_after(timedelta(hours=2)))
    monkeypatch.setattr(signs_of_life, "_field", lambda part: f"{part}@host#0")
    signs_of_life.give("backup", **facts_after(timedelta(hours=1)))

    (seconds,) = values("exchange_backup_age_seconds").values()
    assert 3600 <= seconds < 3660

"""Each night, one worker compares all values with their sources and reports the differences."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from api.facts import all_facts
from orders.nightly_results import Reconciliation
from orders.reconciling import nightly
from orders.tasks import reconcile, wake_reconcile
from tests.orders.test_reconcile import damage


@pytest.fixture
def at(monkeypatch):
    """Return a function that sets the time of the nightly run's clock."""

    def set_time(day: int, hour: int, minute: int = 0) -> None:
        moment = datetime(2026, 11, day, hour, minute, tzinfo=UTC)
        monkeypatch.setattr("orders.nightly_results.timezone.now", lambda: moment)

    return set_time


@pytest.fixture
def woken(monkeypatch):
    tasks: list[str] = []
    monkeypatch.setattr("fastdb.leased.wake", tasks.append)
    return tasks


def metrics() -> dict[str, float]:
    return {each.name: each.value for each in all_facts()[0] if each.name.startswith("exchange_reconcile")}


def test_the_reconcile_runs_once_each_night(work, at, woken):
    at(23, 1, 0)
    wake_reconcile()
    assert woken == ["orders.tasks.reconcile"]
    assert nightly.run() == 0
    assert nightly.run() is None
    at(23, 1, 59)
    assert nightly.run() is None
    at(24, 2, 0)
    assert nightly.run() == 0
    wake_reconcile()
    assert woken == ["orders.tasks.reconcile"]


def test_a_run_that_another_worker_has_begun_is_repeated_only_after_hours(work, at):
    at(23, 3, 0)
    assert Reconciliation.claim() is not None
    assert Reconciliation.claim() is None
    at(23, 5, 1)
    assert Reconciliation.claim() is not None


def test_differences_are_counted_in_a_metric_and_nothing_is_repaired(work, caplog):
    damage("UPDATE inventory_stocklevel SET on_hand = on_hand + 5")
    reconcile()

    assert metrics()["exchange_reconcile_differences"] == 2
    assert metrics()["exchange_reconcile_age_seconds"] < 60
    assert any("stock ledger: variant" in message for message in caplog.messages)
    assert nightly.run() is None
    damage("UPDATE inventory_stocklevel SET on_hand = on_hand - 5")


def test_without_a_run_there_is_no_metric(db):
    assert metrics() == {}

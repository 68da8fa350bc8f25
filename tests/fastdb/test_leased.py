"""Leased work: one worker holds a row, a lost worker is fenced, and a sweep finds each free row."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import OperatorAction
from fastdb import leased
from fastdb.leased import LeaseLost, new_owner
from tests.factories import OperatorActionFactory


@pytest.fixture
def work(db):
    return OperatorActionFactory.create()


def expire(work):
    OperatorAction.objects.filter(pk=work.pk).update(lease_until=Now() - timedelta(seconds=1))


def test_one_worker_claims_a_row(work):
    mine = OperatorAction.claim(work.pk, new_owner())
    assert mine is not None
    assert OperatorAction.claim(work.pk, new_owner()) is None
    assert OperatorAction.unfinished() == []


def test_a_row_whose_lease_ended_is_claimed_by_another_worker_and_the_first_is_fenced(work):
    first = OperatorAction.claim(work.pk, new_owner())
    expire(work)
    assert OperatorAction.unfinished() == [work.pk]
    second = OperatorAction.claim(work.pk, new_owner())
    assert first is not None
    assert second is not None

    with pytest.raises(LeaseLost):
        first.extend()
    first.release()
    assert not first.held().exists()
    assert second.held().exists()


def test_a_worker_that_extends_its_lease_keeps_the_row(work):
    mine = OperatorAction.claim(work.pk, new_owner())
    assert mine is not None
    expire(work)
    mine.extend()
    assert OperatorAction.claim(work.pk, new_owner()) is None


def test_a_released_row_is_free(work):
    mine = OperatorAction.claim(work.pk, new_owner())
    assert mine is not None
    mine.release()
    mine.refresh_from_db()
    assert not mine.held().exists()
    assert OperatorAction.unfinished() == [work.pk]


def test_finished_work_is_not_claimed(work):
    OperatorAction.objects.filter(pk=work.pk).update(finished_at=timezone.now())
    assert OperatorAction.claim(work.pk, new_owner()) is None


def test_a_killed_worker_is_replaced_within_fifteen_seconds(settings):
    names = ("sweep-operators-actions", "sweep-simulations")
    sweeps = [settings.CELERY_BEAT_SCHEDULE[name]["schedule"].run_every for name in names]
    assert OperatorAction.LEASE + max(sweeps) <= timedelta(seconds=15)


def test_after_a_failure_no_caller_waits_for_the_broker_for_a_while(monkeypatch):
    def unreachable(*_, **__):
        tries.append(1)
        raise ConnectionError("Redis is not there")

    tries: list[int] = []
    monkeypatch.setattr("celery.canvas.Signature.apply_async", unreachable)
    monkeypatch.setattr(leased, "_paused_until", 0.0)
    leased.wake("accounts.tasks.run_operator_action", 1)
    leased.wake("accounts.tasks.run_operator_action", 2)
    assert tries == [1]

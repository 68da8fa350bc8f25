"""The report of /statusz about each part on each host."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from api import signs_of_life
from config.health import views as health
from config.health import worker

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nobody_was_heard_of(monkeypatch, settings, tmp_path):
    monkeypatch.setattr(health, "CACHED_FOR", -1.0)
    settings.UPLOADS_DIR = tmp_path
    with worker.redis_client() as client:
        client.delete(signs_of_life.KEY)
    worker.write_heartbeat(sender=None)


@pytest.fixture(autouse=True)
def _the_clock_stands():
    """Stop the clock, so that ages in seconds do not depend on the machine's speed."""
    with time_machine.travel(time.time(), tick=False):
        yield


@pytest.fixture
def heard(monkeypatch):
    """Return a function that writes the sign of life of a part on a host. `seconds` is its age."""

    def give(part: str, host: str = "one", seconds: float = 0.0, **facts: float) -> None:
        now = time.time()
        with monkeypatch.context() as then:
            then.setattr("api.signs_of_life.time.time", lambda: now - seconds)
            then.setattr("api.signs_of_life.socket.gethostname", lambda: host)
            signs_of_life.give(part, **facts)

    return give


def status(address: str = "127.0.0.1") -> dict[str, object]:
    body: dict[str, object] = Client().get("/statusz", REMOTE_ADDR=address).json()
    return body


def check(name: str) -> str:
    return str(status()["checks"][name])  # type: ignore[index]


def test_a_missing_or_silent_beat_is_reported(heard):
    assert check("beat") == "no tick was reported"
    heard("beat", seconds=70)
    assert check("beat") == "no tick for 70 seconds"
    assert Client().get("/statusz").status_code == 503
    heard("beat", "two")
    assert check("beat") == "ok"


def test_a_part_that_became_silent_is_reported_and_a_long_removed_part_is_not(heard):
    heard("beat")
    heard("sftp")
    heard("sftp", "two", seconds=40)
    heard("webhooks", "old", seconds=signs_of_life.MISSED_FOR + 1)
    assert check("parts") == "sftp is silent on 1 of 2 hosts"
    assert Client().get("/readyz").status_code == 200
    heard("sftp", "two")
    assert check("parts") == "ok"


def test_each_part_is_listed_by_host_for_internal_callers_only(heard):
    heard("worker")
    heard("ticker", "two", seconds=40)
    listed = {(each["part"], each["host"], each["alive"]) for each in status()["parts"]}  # type: ignore[attr-defined]
    assert listed == {("worker", "one", True), ("ticker", "two", False)}
    outside = status("203.0.113.9")
    assert "parts" not in outside
    assert "two" not in str(outside)


@pytest.mark.program
@pytest.mark.parametrize(("end", "missed"), [("raise SystemExit", False), ("os._exit(1)", True)])
def test_only_a_process_that_was_killed_counts_as_missing(end, missed):
    program = (
        "import os, django; django.setup(); from api import signs_of_life; signs_of_life.give('sftp'); " + end
    )
    environment = {
        **os.environ,
        "REDIS_URL": settings.REDIS_URL,
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    subprocess.run([sys.executable, "-c", program], cwd=settings.BASE_DIR, env=environment, check=False)
    assert bool(signs_of_life.all_signs()) is missed

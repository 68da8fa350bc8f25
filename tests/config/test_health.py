"""The paths /healthz, /readyz, /statusz and /metrics (contract 11)."""

import threading

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from redis.exceptions import ConnectionError as RedisDown

from api import signs_of_life
from config.health import readiness, shared_folder, worker
from config.health import views as health
from config.health.apart import ApartCheck
from tests.factories import SenderFactory, WebhookFactory


@pytest.fixture(autouse=True)
def _asked_afresh(monkeypatch):
    monkeypatch.setattr(health, "_cached", (-health.CACHED_FOR, {}))


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    with worker.redis_client() as client:
        client.delete(shared_folder.KEY, signs_of_life.KEY)
    signs_of_life.give("beat")


@pytest.fixture
def no_worker():
    with worker.redis_client() as client:
        client.delete(worker.HEARTBEAT_KEY)


def test_healthz_calls_no_other_part(monkeypatch):
    monkeypatch.setattr(health, "CHECKS", {"anything": lambda: 1 / 0})
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/readyz", ["database"]),
        ("/statusz", ["database", "redis", "worker", "disk", "uploads", "webhooks", "beat", "parts"]),
    ],
)
def test_all_checks_are_ok_after_the_heartbeat_of_a_worker(no_worker, path, names):
    worker.write_heartbeat(sender=None)
    answer = Client().get(path)
    assert answer.status_code == 200
    assert answer.json()["checks"] == dict.fromkeys(names, "ok")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.django_db
def test_readyz_checks_only_the_database(monkeypatch):
    monkeypatch.setattr(health, "CHECKS", {"uploads": lambda: 1 / 0})
    with CaptureQueriesContext(connection) as captured:
        assert Client().get("/readyz").status_code == 200
    assert [query["sql"] for query in captured] == ["SELECT pg_is_in_recovery()"]


@pytest.mark.django_db
def test_readyz_survives_a_connection_that_the_driver_gives_up(monkeypatch):
    def lost():
        raise InterfaceError("the connection is closed")

    monkeypatch.setattr(readiness, "_ask", lost)
    assert Client().get("/readyz").json()["checks"] == {"database": "does not answer"}


@pytest.mark.django_db
def test_a_hanging_folder_is_reported_with_its_last_state_and_delays_nothing(monkeypatch):
    hangs = threading.Event()
    states = iter(["ok"])

    def look() -> str:
        state = next(states, "")
        return state or str(hangs.wait(30))

    monkeypatch.setattr(health, "CHECKS", {"uploads": ApartCheck(look, wait=0.05)})
    monkeypatch.setattr(health, "CACHED_FOR", -1.0)
    assert Client().get("/statusz").json()["checks"] == {"uploads": "ok"}
    for _ in range(2):
        state = Client().get("/statusz").json()["checks"]["uploads"]
        assert state == "has not answered for 0 s (before: ok)"
    assert Client().get("/readyz").status_code == 200
    hangs.set()


def test_a_failed_separate_check_is_reported():
    assert ApartCheck(lambda: str(1 / 0))() == "failed (ZeroDivisionError)"


@pytest.mark.django_db
def test_a_missing_worker_is_reported_and_the_host_still_serves(no_worker):
    ready, status = Client().get("/readyz"), Client().get("/statusz")
    assert ready.status_code == 200
    assert status.json()["checks"]["worker"] == "no heartbeat for 15 seconds"
    assert (status.status_code, status.json()["code"]) == (503, "unavailable")
    assert "worker" in status.json()["message"]
    assert "database" not in status.json()["message"]
    assert status.headers["Retry-After"] == "5"


@pytest.mark.django_db
def test_unsent_webhooks_are_reported():
    WebhookFactory.create()
    assert "webhooks (no process sends webhooks)" in Client().get("/statusz").json()["message"]
    SenderFactory.create()
    health._cached = (-health.CACHED_FOR, {})
    assert Client().get("/statusz").json()["checks"]["webhooks"] == "ok"


@pytest.mark.django_db
def test_a_full_disk_is_reported(monkeypatch):
    monkeypatch.setattr("config.health.views.MIN_FREE_DISK", 2**60)
    assert Client().get("/readyz").status_code == 200
    assert "disk (full: " in Client().get("/statusz").json()["message"]


@pytest.mark.django_db
def test_a_machine_with_an_upload_folder_of_its_own_is_named(settings, tmp_path, monkeypatch):
    assert Client().get("/statusz").json()["checks"]["uploads"] == "ok"
    monkeypatch.setattr("config.health.shared_folder.socket.gethostname", lambda: "other")
    assert shared_folder.shared_folder() == "ok"  # both hosts see the same folder

    settings.UPLOADS_DIR = tmp_path / "local"
    monkeypatch.setattr("config.health.shared_folder.socket.gethostname", lambda: "third")
    assert "other" in shared_folder.shared_folder()

    monkeypatch.setattr(shared_folder, "HEARD_WITHIN", 0)
    assert shared_folder.shared_folder() == "ok"  # old signs of other hosts do not count


@pytest.mark.django_db
def test_a_process_on_a_standby_database_is_not_ready(monkeypatch):
    monkeypatch.setattr("config.health.readiness.database", lambda: "is a standby")
    answer = Client().get("/readyz")
    assert answer.json()["checks"] == {"database": "is a standby"}
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


@pytest.mark.django_db
def test_a_heartbeat_expires(no_worker):
    worker.write_heartbeat()
    with worker.redis_client() as client:
        assert 0 < client.ttl(worker.HEARTBEAT_KEY) <= worker.HEARTBEAT_TTL


def test_readyz_names_a_database_and_a_redis_that_are_gone(monkeypatch):
    def gone(error):
        def fail(*_, **__):
            raise error

        return fail

    monkeypatch.setattr("config.health.readiness.connection.cursor", gone(OperationalError("gone")))
    monkeypatch.setattr("config.health.views.redis_client", gone(RedisDown("gone")))
    monkeypatch.setattr("config.health.views.has_heartbeat", gone(RedisDown("gone")))
    answer = Client().get("/statusz")
    assert answer.status_code == 503
    assert {name for name, said in answer.json()["checks"].items() if said != "ok"} == {
        "database",
        "redis",
        "worker",
        "uploads",
        "webhooks",
        "beat",
        "parts",
    }
    assert Client().get("/readyz").status_code == 503


def test_the_checks_wait_only_once_for_a_silent_redis(monkeypatch):
    """A load balancer waits only a short time, so the checks must not wait for Redis one after another."""
    asked = []

    def ask():
        asked.append(1)
        return "does not answer"

    monkeypatch.setattr(health, "CHECKS", dict.fromkeys(("redis", *health.BY_REDIS), ask))
    checks = Client().get("/statusz").json()["checks"]
    assert len(asked) == 1
    assert {checks[name] for name in health.BY_REDIS} == {"unknown without Redis"}


@pytest.mark.django_db
def test_results_are_reused_for_a_moment(monkeypatch):
    asked = []

    def ask():
        asked.append(1)
        return "ok"

    monkeypatch.setattr(health, "CHECKS", {"database": ask})
    for _ in range(5):
        assert Client().get("/statusz").status_code == 200
    assert len(asked) == 1


def test_a_redis_that_is_gone_does_not_end_the_worker(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    worker.write_heartbeat(sender=None)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/statusz", "/v3/schema", "/v3/docs", "/metrics"])
def test_other_methods_are_refused_in_json(path):
    answer = Client(enforce_csrf_checks=True).post(path, b"x", content_type="text/plain")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD"


def test_metrics_count_by_route_and_status_and_never_by_url(acme, anonymous):
    anonymous.get(f"/v3/suppliers/{acme.pk}")
    text = Client().get("/metrics").content.decode()
    line = 'exchange_requests_total{method="GET",route="/v3/suppliers/<id:supplier_id>",status="4xx"}'
    assert line in text
    assert f"suppliers/{acme.pk}" not in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("203.0.113.9", {}, 404),
        ("10.0.0.1", {}, 404),
        ("", {}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 404),
    ],
)
def test_metrics_are_for_internal_addresses_only(address, headers, status):
    assert Client().get("/metrics", REMOTE_ADDR=address, headers=headers).status_code == status


@pytest.mark.django_db
def test_behind_a_proxy_its_clients_address_counts(settings):
    settings.BEHIND_PROXY = True
    for forwarded, status in (("203.0.113.9", 404), ("127.0.0.1, 203.0.113.9", 404), ("127.0.0.1", 200)):
        assert Client().get("/metrics", headers={"X-Forwarded-For": forwarded}).status_code == status

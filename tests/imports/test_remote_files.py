"""Files on a supplier's own host are fetched one at a time, and delay no import."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import redis
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from imports import sweeping
from imports.fetching import fetch_file
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from imports.pipeline.lease import claim
from inventory.models import Warehouse
from sftp_ingest.area import contents
from sftp_ingest.models import Blob
from tests.factories import ImportJobFactory, RemoteHostFactory

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + b"k" * 32).decode()
ROWS = "sku,title,retail_price\nA-1,Shirt,1\n"


class SlowHost:
    """A host with a file that arrives in steps: the test allows each step."""

    def __init__(self) -> None:
        self.asked, self.chunk, self.whole = threading.Semaphore(0), threading.Semaphore(0), False
        self.fetched: list[str] = []

    def fetch(self, supplier: object, url: str, *, check: Callable[[], None]) -> Blob:
        self.fetched.append(url)
        self.asked.release()
        while not self.whole:
            assert self.chunk.acquire(timeout=60)
            check()
        return contents.write([ROWS.encode()])

    def finish(self) -> None:
        self.whole = True
        self.chunk.release()


@pytest.fixture
def host(acme, monkeypatch) -> SlowHost:
    RemoteHostFactory.create(supplier=acme, host="files.acme.example", host_key=KEY)
    slow = SlowHost()
    monkeypatch.setattr("imports.fetching.fetch", slow.fetch)
    monkeypatch.setattr("imports.fetching.LOOK_SECONDS", 0.0)
    return slow


@pytest.fixture
def fetchers(monkeypatch) -> list[int]:
    """Return the jobs for which a fetch was requested."""
    asked: list[int] = []
    monkeypatch.setattr("imports.wake.wake_fetcher", asked.append)
    return asked


@pytest.fixture
def start(acme, client_for) -> Callable[..., int]:
    client = client_for(acme)

    def post(kind: str = "importProducts") -> int:
        url = "sftp://files.acme.example/spring.csv"
        warehouse = Warehouse.objects.get(supplier=acme, is_default=True).pk
        body = {"file_url": url} if kind == "importProducts" else {"url": url, "warehouse_id": warehouse}
        return int(client.post(kind, body).json()["id"])

    return post


def fetching(pool: ThreadPoolExecutor, job_id: int):
    def work() -> bool:
        try:
            return fetch_file(job_id)
        finally:
            connection.close()

    return pool.submit(work)


def test_a_worker_of_imports_never_waits_for_a_host(start, host, fetchers, woken):
    job_id = start()
    assert fetchers == [job_id]

    assert not run_job(job_id)
    sweeping.wake_waiting()

    assert fetchers == [job_id] * 3
    assert (host.fetched, woken) == ([], [])
    host.finish()
    assert fetch_file(job_id)
    assert woken == [job_id]
    assert run_job(job_id)
    assert ImportJob.objects.get().status == Status.SUCCEEDED


def test_one_file_of_a_supplier_is_fetched_at_a_time_and_then_the_next(start, host, fetchers):
    first, second = start(), start("importInventory")
    fetchers.clear()
    with ThreadPoolExecutor(1) as pool:
        one = fetching(pool, first)
        assert host.asked.acquire(timeout=60)
        assert not fetch_file(second)
        host.finish()
        assert one.result()

    assert len(host.fetched) == 1
    assert fetchers == [second]
    assert fetch_file(second)


def test_a_fetch_that_lost_its_slot_leaves_other_slots_alone(acme, settings, start, host):
    first, second = start(), start()
    slots, slot = redis.Redis.from_url(settings.REDIS_URL), f"imports:fetching:{acme.pk}"
    with ThreadPoolExecutor(1) as pool:
        slow = fetching(pool, first)
        assert host.asked.acquire(timeout=60)
        slots.set(slot, "another's", ex=60)
        host.finish()
        assert slow.result(20), "its file is kept nevertheless"
    try:
        assert not fetch_file(second), "another fetch still has the slot"
    finally:
        slots.delete(slot)
    assert fetch_file(second)


def test_a_job_canceled_during_its_download_ends_at_once(acme, client_for, start, host):
    job_id = start()
    with ThreadPoolExecutor(1) as pool:
        one = fetching(pool, job_id)
        assert host.asked.acquire(timeout=60)
        assert client_for(acme).post(f"imports/{job_id}/cancel").json()["status"] == "canceled"
        host.chunk.release()
        assert one.result(20) is False

    assert not Blob.objects.exists()
    host.finish()
    assert fetch_file(start()), "the slot is free again"


@pytest.mark.parametrize("slots", [1, 2])
def test_a_supplier_has_a_limited_number_of_slots(acme, rival, settings, slots):
    settings.IMPORT_SLOTS = slots
    products, stock = (
        ImportJobFactory.create(supplier=acme, kind=kind) for kind in ("products", "inventory")
    )
    others = ImportJobFactory.create(supplier=rival)

    assert claim(products.pk, "a:1:one") is not None
    assert (claim(stock.pk, "a:1:two") is not None) == (slots == 2)
    assert claim(others.pk, "a:1:three") is not None
    lease_runs_out(products)
    assert slots == 2 or claim(stock.pk, "a:1:two") is not None


def lease_runs_out(job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_the_command_that_runs_an_import_says_that_its_file_is_missing(host, fetchers, start):
    with pytest.raises(CommandError, match="fetcher"):
        call_command("run_import", start())

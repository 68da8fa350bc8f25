"""Redis with Sentinels: after a kill of the master, the replica takes over without an operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from imports.models import ImportJob, Status
from tests.factories import IssuedKeyFactory
from tests.faults.sentinels import wait_until, watched
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]


def test_pushes_rates_and_imports_continue_after_the_master_was_killed(
    acme, shop, a_variant, start_web, start_worker, tmp_path: Path
):
    a_variant(acme, "A-1", stock=100)
    _, retailer = IssuedKeyFactory.create(party=shop)
    _, supplier = IssuedKeyFactory.create(party=acme, rate_limit="100000/h")
    with watched(tmp_path) as redis:
        shared = {"REDIS_URL": redis.url, "UPLOADS_DIR": str(tmp_path / "uploads")}
        web = start_web(**shared)
        workers = [start_worker(**shared)]

        def push(number: str) -> int:
            body = an_order({"sku": "A-1", "quantity": 1}, retailer_order_id=number)
            return int(web.ask("POST", f"/v3/retailers/{shop.pk}/orders", secret=retailer, body=body).status)

        def start_import(sku: str) -> int:
            rows = ["sku,title,retail_price", f"{sku},Shirt,9.99"]
            path = f"/v3/suppliers/{acme.pk}/importProducts"
            answer = web.ask("POST", path, secret=supplier, body={"data": rows})
            assert answer.status == 201
            return int(answer.json()["id"])

        def is_counted() -> bool:
            answer = web.ask("GET", f"/v3/suppliers/{acme.pk}/variants", secret=supplier)
            assert answer.status == 200
            return "ratelimit-remaining" in answer.headers

        def is_done(job: int) -> bool:
            # A worker can end when it closes a connection with an unacknowledged message (a fault of kombu).
            # Start the worker again, as the supervisor does.
            if workers[-1].poll() is not None:
                workers.append(start_worker(**shared))
            return ImportJob.objects.get(pk=job).status == Status.SUCCEEDED

        assert push("before") == 201
        assert is_counted()
        before = start_import("B-1")
        wait_until(lambda: is_done(before), "the worker imports")

        redis.kill_master()
        assert [push(f"meanwhile-{number}") for number in range(3)] == [201] * 3
        meanwhile = start_import("B-2")

        redis.wait_for_failover()
        wait_until(is_counted, "rates are counted again")
        wait_until(lambda: is_done(meanwhile), "the sweep finds what nobody was woken for", 120)
        assert push("after") == 201
        after = start_import("B-3")
        wait_until(lambda: is_done(after), "the worker is woken again", 120)
        wait_until(lambda: web.ask("GET", "/statusz").json()["checks"]["redis"] == "ok", "Redis is well")

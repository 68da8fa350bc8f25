"""A Redis that never answers delays background work, but delays no request."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from imports import sweeping
from imports.models import ImportJob, Status
from tests.factories import IssuedKeyFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

ROWS = ["sku,title,retail_price", "A-1,Shirt,9.99"]


def test_import_posts_are_answered_while_redis_is_silent_and_the_sweep_finds_the_jobs(
    acme, start_web, own_redis, monkeypatch
):
    _, secret = IssuedKeyFactory.create(party=acme)
    path = f"/v3/suppliers/{acme.pk}"
    web = start_web(
        REDIS_URL=own_redis.url, WEB_THREADS="32"
    )  # a party may use twelve threads, so no request waits for a thread
    assert web.ask("GET", f"{path}/variants", secret=secret).status == 200

    def post(_: int):
        return web.ask("POST", f"{path}/importProducts", secret=secret, body={"data": ROWS})

    # Redis stays silent until all requests are answered, so a request that waited would never end.
    with own_redis.silent(), ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(post, range(12)))
        after = web.ask("GET", f"{path}/variants", secret=secret)

    assert [answer.status for answer in answers] == [201] * 12
    assert after.status == 200
    woken: list[int] = []
    monkeypatch.setattr("imports.wake.wake", woken.append)
    sweeping.wake_waiting()
    assert woken == [
        ImportJob.objects.filter(status=Status.QUEUED).order_by("pk").values_list("pk", flat=True)[0]
    ]


def test_a_redis_that_forgets_everything_loses_no_job_and_no_answer(acme, start_web, own_redis, monkeypatch):
    _, secret = IssuedKeyFactory.create(party=acme)
    path = f"/v3/suppliers/{acme.pk}/importProducts"
    one, two = start_web(REDIS_URL=own_redis.url), start_web(REDIS_URL=own_redis.url)
    key = {"Idempotency-Key": "the same"}

    first = one.ask("POST", path, secret=secret, body={"data": ROWS}, headers=key)
    own_redis.forget()
    again = two.ask("POST", path, secret=secret, body={"data": ROWS}, headers=key)

    assert (first.status, again.status) == (201, 201)
    assert again.json()["id"] == first.json()["id"]
    assert ImportJob.objects.count() == 1
    woken: list[int] = []
    monkeypatch.setattr("imports.wake.wake", woken.append)
    sweeping.wake_waiting()
    assert woken == [first.json()["id"]]


def test_hosts_stay_ready_for_the_load_balancer_while_redis_is_silent(start_web, own_redis):
    web = start_web(REDIS_URL=own_redis.url)
    with own_redis.silent():
        ready, status = web.ask("GET", "/readyz"), web.ask("GET", "/statusz")
    assert (ready.status, ready.json()["checks"]) == (200, {"database": "ok"})
    assert (status.status, status.json()["checks"]["redis"]) == (503, "does not answer")

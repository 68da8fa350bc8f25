"""Webhooks: deliveries per second to a fast receiver.

The sending process, PostgreSQL and the receiver share the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from accounts.models import Retailer
from events.models import Delivery, Event, Webhook
from tools.bench.database import own_database
from tools.bench.measuring import at_least
from tools.bench.options import read_options
from tools.bench.serving.receiver import receiver
from tools.bench.serving.service import database_url
from tools.bench.sizes import size

LEAST_A_SECOND = 500
WAIT = 300.0

EVENTS = """
    INSERT INTO events_event
        (type, area, retailer_id, order_id, actor, request_id, from_state, to_state, data)
    SELECT 'order.created', 'orders', %s, %s + n / 3, 'system:bench', '', '', '',
        jsonb_build_object('items', jsonb_build_array(jsonb_build_object('line', n, 'quantity', 2)))
    FROM generate_series(1, %s) n
"""


def main(arguments: list[str]) -> None:
    options = read_options("webhooks", arguments, deliveries=size(20_000, smoke=80))
    with own_database(), receiver() as quick:
        throughput(quick, options.deliveries)


def throughput(quick: str, deliveries: int) -> None:
    """Deliver a backlog of eight webhooks, then a backlog of one webhook."""
    for number_of_webhooks in (8, 1):
        webhooks = [
            _webhook(f"{quick}/{number_of_webhooks}-{number}") for number in range(number_of_webhooks)
        ]
        for webhook in webhooks:
            make_events(webhook, deliveries // number_of_webhooks)
        with sending():
            _wait_until_delivered(webhooks)
        first, last, count = _span(webhooks)
        at_least(
            f"{count:,} deliveries to {number_of_webhooks} receiver(s), per second",
            count / (last - first),
            LEAST_A_SECOND,
        )


def _webhook(url: str) -> Webhook:
    retailer = Retailer.objects.create(name=f"Retailer {Retailer.objects.count()}")
    webhook = Webhook(retailer=retailer, url=url, areas=["orders"], after=0)
    webhook.make_secret()
    webhook.save(force_insert=True)
    return webhook


def make_events(webhook: Webhook, count: int) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(EVENTS, [webhook.retailer_id, time.time_ns() // 1_000_000, count])


@contextmanager
def sending() -> Iterator[None]:
    """Run one process of `manage.py send_webhooks`."""
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(""),
        "WEBHOOK_NETWORKS": "127.0.0.0/8",
        "LOG_LEVEL": "ERROR",
    }
    process = subprocess.Popen([sys.executable, "manage.py", "send_webhooks"], env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _wait_until_delivered(webhooks: list[Webhook]) -> None:
    until = time.monotonic() + WAIT
    total = Event.objects.filter(retailer__in=[webhook.retailer_id for webhook in webhooks]).count()
    while time.monotonic() < until:
        if Delivery.objects.filter(webhook__in=webhooks, status="delivered").count() == total:
            return
        # Each count is load on the measured database: two per second are enough for a run of minutes.
        time.sleep(0.5)
    raise SystemExit(f"The deliveries did not end within {WAIT:.0f} s.")


def _span(webhooks: list[Webhook]) -> tuple[float, float, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM min(attempted_at))::float8,"
            " extract(epoch FROM max(attempted_at))::float8, count(*)"
            " FROM events_delivery WHERE webhook_id = ANY(%s)",
            [[each.pk for each in webhooks]],
        )
        first, last, count = cursor.fetchone()
    return first, last, count

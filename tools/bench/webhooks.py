"""Webhooks: deliveries a second to a receiver that answers at once; and how late they are in a storm of
events, beside a receiver that hangs and one that refuses the connection.

One sending process, PostgreSQL, the receivers and whoever makes the events share the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import quantiles

from django.db import connection, transaction

from accounts.models import Retailer
from events.models import Delivery, Event, Webhook
from tools.bench.database import own_database
from tools.bench.measuring import at_least
from tools.bench.options import read_options
from tools.bench.serving.receivers import receivers
from tools.bench.serving.service import database_url

LEAST_A_SECOND, MOST_LATE = 500, 2.0
CLOSED = "http://127.0.0.1:9/hooks"  # nobody listens there
WAIT = 300.0

EVENTS = """
    INSERT INTO events_event
        (type, area, retailer_id, order_id, actor, request_id, from_state, to_state, data)
    SELECT 'order.created', 'orders', %s, %s + n / 3, 'system:bench', '', '', '',
        jsonb_build_object('items', jsonb_build_array(jsonb_build_object('line', n, 'quantity', 2)))
    FROM generate_series(1, %s) n
"""


def main(arguments: list[str]) -> None:
    options = read_options("webhooks", arguments, deliveries=20_000, storm=300, seconds=20)
    with own_database(), receivers() as (quick, hanging):
        throughput(quick, options.deliveries)
        storm(quick, hanging, options.storm, options.seconds)


def throughput(quick: str, deliveries: int) -> None:
    """A backlog for eight webhooks, and then for one."""
    for webhooks in (8, 1):
        made = [_webhook(f"{quick}/{webhooks}-{number}") for number in range(webhooks)]
        for each in made:
            happen(each, deliveries // webhooks)
        with sending():
            _wait_until_delivered(made)
        first, last, count = _span(made)
        at_least(
            f"{count:,} deliveries to {webhooks} receiver(s), a second",
            count / (last - first),
            LEAST_A_SECOND,
        )


def storm(quick: str, hanging: str, a_second: int, seconds: int) -> None:
    """Events of several retailers at a steady rate; one's receiver hangs, another's is down."""
    well = [_webhook(f"{quick}/storm-{number}") for number in range(4)]
    stuck = [_webhook(hanging), _webhook(CLOSED)]
    with sending():
        began = time.monotonic()
        for tick in range(seconds * 10):
            for each in (*well, *stuck):
                happen(each, a_second // 10 // len((*well, *stuck)))
            # The load comes at a set pace, however fast the service is: so a tenth of a second has its share.
            time.sleep(max(0.0, began + (tick + 1) / 10 - time.monotonic()))
        print(f"  {f'events made in {time.monotonic() - began:.1f} s':<66} {Event.objects.count():,}")
        _wait_until_delivered(well)
    late = _lateness(well)
    cuts = quantiles(late, n=100)
    print(f"  {'deliveries beside one that hangs and one that is down':<66} {len(late):>8,}")
    print(f"  {'how late, median, p95, p99 (s)':<66} {cuts[49]:8.2f} {cuts[94]:.2f} {cuts[98]:.2f}")
    verdict = "yes" if max(late) <= MOST_LATE else "NO"
    print(f"  {'the latest (s)':<66} {max(late):8.2f}    (at most {MOST_LATE}: {verdict})", flush=True)


def _webhook(url: str) -> Webhook:
    retailer = Retailer.objects.create(name=f"Retailer {Retailer.objects.count()}")
    webhook = Webhook(retailer=retailer, url=url, areas=["orders"], after=0)
    webhook.make_secret()
    webhook.save(force_insert=True)
    return webhook


def happen(webhook: Webhook, count: int) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(EVENTS, [webhook.retailer_id, time.time_ns() // 1_000_000, count])


@contextmanager
def sending() -> Iterator[None]:
    """One process of `manage.py send_webhooks`."""
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
    left = Event.objects.filter(retailer__in=[each.retailer_id for each in webhooks]).count()
    while time.monotonic() < until:
        if Delivery.objects.filter(webhook__in=webhooks, status="delivered").count() == left:
            return
        # Counting asks the database that is being measured: often enough for minutes, and no more.
        time.sleep(0.5)
    raise SystemExit("The deliveries did not come to an end.")


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


def _lateness(webhooks: list[Webhook]) -> list[float]:
    """From the event until its receiver had taken it, in seconds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM d.attempted_at - e.occurred_at)::float8 FROM events_delivery d"
            " JOIN events_event e ON e.number = d.event_id WHERE d.webhook_id = ANY(%s)",
            [[each.pk for each in webhooks]],
        )
        return [late for (late,) in cursor.fetchall()]

"""Facts about events and webhooks for /metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.facts import MOST, MetricSample, age
from events.states import DEAD, WAITING
from events.webhooks.selectors import delivery_totals


def events(cursor: Any) -> Iterator[MetricSample]:
    cursor.execute(
        "SELECT count(*), extract(epoch FROM now() - min(occurred_at)) FROM ("
        "SELECT occurred_at FROM events_event WHERE number IS NULL ORDER BY id LIMIT %s) AS looked_at",
        [MOST],
    )
    count, lag = cursor.fetchone()
    yield MetricSample("exchange_events_unpublished", count)
    yield MetricSample("exchange_event_lag_seconds", age((lag,)))


def webhooks(cursor: object) -> Iterator[MetricSample]:
    del cursor  # not needed: the selector uses the same connection, with the same time limit
    totals = delivery_totals(MOST)
    yield MetricSample("exchange_webhook_deliveries", totals.waiting, (WAITING.value,))
    yield MetricSample("exchange_webhook_deliveries", totals.dead, (DEAD.value,))
    yield MetricSample("exchange_webhook_lag_seconds", totals.lag)

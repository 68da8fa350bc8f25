"""Facts about orders for /metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.facts import MOST, MetricSample, age
from orders.processing_state import FINISHED, ProcessingState

OPEN = [state for state in ProcessingState if state not in FINISHED]


def reconciled(cursor: Any) -> Iterator[MetricSample]:
    cursor.execute(
        "SELECT extract(epoch FROM now() - finished_at), differences FROM orders_reconciliation"
        " WHERE finished_at IS NOT NULL"
    )
    for seconds, found in cursor.fetchall():
        yield MetricSample("exchange_reconcile_differences", found)
        yield MetricSample("exchange_reconcile_age_seconds", age((seconds,)))


def erasures(cursor: Any) -> Iterator[MetricSample]:
    cursor.execute(
        "SELECT extract(epoch FROM now() - min(erased_at)) FROM orders_order WHERE id IN"
        " (SELECT order_id FROM orders_pendingerasure LIMIT %s)",
        [MOST],
    )
    yield MetricSample("exchange_erasure_age_seconds", age(cursor.fetchone()))


def orders(cursor: Any) -> Iterator[MetricSample]:
    counts = " UNION ALL ".join(
        f"SELECT '{state}', count(*) FROM (SELECT 1 FROM orders_order WHERE processing_state = '{state}'"  # noqa: S608 - built from constants
        f" LIMIT {MOST}) AS looked_at"
        for state in OPEN
    )
    cursor.execute(counts)
    for state, count in cursor.fetchall():
        yield MetricSample("exchange_orders", count, (state,))
    cursor.execute(
        "SELECT coalesce(sum(completed), 0), coalesce(sum(canceled), 0), coalesce(sum(pending), 0)"
        " FROM orders_retailerclock"
    )
    completed, canceled, pending = cursor.fetchone()
    yield MetricSample("exchange_orders", float(completed), (str(ProcessingState.COMPLETED),))
    yield MetricSample("exchange_orders", float(canceled), (str(ProcessingState.CANCELED),))
    yield MetricSample("exchange_orders_open", float(pending))

"""Facts about fulfillments for /metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.facts import MOST, MetricSample, age
from fulfillments.models import Fulfillment
from fulfillments.states import State


def fulfillments(cursor: Any) -> Iterator[MetricSample]:
    for state in (State.NEW, State.CANCELING):
        cursor.execute(
            "SELECT extract(epoch FROM now() - updated_at) FROM fulfillments_fulfillment"
            " WHERE state = %s AND state <> %s ORDER BY id LIMIT 1",
            [state.value, State.SHIPPED.value],
        )
        oldest = cursor.fetchone()
        yield MetricSample("exchange_fulfillment_oldest_unanswered_seconds", age(oldest), (state.value,))
    overdue = Fulfillment.objects.overdue().order_by()[:MOST].count()
    yield MetricSample("exchange_fulfillments_overdue", overdue)

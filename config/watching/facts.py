"""How the service stands, asked of the database: statements that an index answers, however much there is.

Each looks at no more than MOST rows of a kind: past that a number only says "very many", and costs no more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError, connection, transaction

from events.webhooks.selectors import delivery_totals
from fulfillments.models import Fulfillment
from imports.models import Kind, Status
from orders.processing_state import FINISHED, ProcessingState

logger = logging.getLogger(__name__)

MOST = 10_000
TIMEOUT = "2s"
"""How long a statement may take; what takes longer is left out, and the failure counted."""

OPEN = [state for state in ProcessingState if state not in FINISHED]
WAITING = (Status.QUEUED, Status.RUNNING, Status.AWAITING_APPROVAL)


@dataclass(frozen=True)
class Sample:
    """A number, under the name of its metric and with its labels."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


def all_facts() -> tuple[list[Sample], list[str]]:
    """What could be found out; and the names of the questions that got no answer."""
    samples: list[Sample] = []
    failed: list[str] = []
    for ask in QUESTIONS:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = '{TIMEOUT}'")
                samples += ask(cursor)
                cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
        except (DatabaseError, InterfaceError) as error:
            logger.warning("metrics: %s got no answer: %s", ask.__name__, error)
            failed.append(ask.__name__.removeprefix("_"))
    return samples, failed


def _orders(cursor: Any) -> Iterator[Sample]:
    counted = " UNION ALL ".join(
        f"SELECT '{state}', count(*) FROM (SELECT 1 FROM orders_order WHERE processing_state = '{state}'"  # noqa: S608 - of constants
        f" LIMIT {MOST}) AS looked_at"
        for state in OPEN
    )
    cursor.execute(counted)
    for state, count in cursor.fetchall():
        yield Sample("exchange_orders", count, (state,))
    cursor.execute(
        "SELECT coalesce(sum(completed), 0), coalesce(sum(canceled), 0), coalesce(sum(pending), 0)"
        " FROM orders_retailerclock"
    )
    completed, canceled, pending = cursor.fetchone()
    yield Sample("exchange_orders", float(completed), (str(ProcessingState.COMPLETED),))
    yield Sample("exchange_orders", float(canceled), (str(ProcessingState.CANCELED),))
    yield Sample("exchange_orders_open", float(pending))


def _fulfillments(cursor: Any) -> Iterator[Sample]:
    for state in ("new", "canceling"):
        cursor.execute(
            "SELECT extract(epoch FROM now() - updated_at) FROM fulfillments_fulfillment"
            " WHERE state = %s AND state <> 'shipped' ORDER BY id LIMIT 1",
            [state],
        )
        oldest = cursor.fetchone()
        yield Sample("exchange_fulfillment_oldest_unanswered_seconds", _seconds(oldest), (state,))
    late = Fulfillment.objects.overdue().order_by()[:MOST].count()
    yield Sample("exchange_fulfillments_overdue", late)


def _imports(cursor: Any) -> Iterator[Sample]:
    cursor.execute(
        "SELECT status, count(*), extract(epoch FROM now() - min(created_at)) FROM imports_importjob"
        " WHERE status = ANY(%s) GROUP BY status",
        [[*WAITING]],
    )
    found = {status: (count, age) for status, count, age in cursor.fetchall()}
    for status in WAITING:
        count, age = found.get(status, (0, 0))
        yield Sample("exchange_imports", count, (str(status),))
        yield Sample("exchange_import_oldest_seconds", _seconds((age,)), (str(status),))


def _events(cursor: Any) -> Iterator[Sample]:
    cursor.execute(
        "SELECT count(*), extract(epoch FROM now() - min(occurred_at)) FROM ("
        "SELECT occurred_at FROM events_event WHERE number IS NULL ORDER BY id LIMIT %s) AS looked_at",
        [MOST],
    )
    count, lag = cursor.fetchone()
    yield Sample("exchange_events_unpublished", count)
    yield Sample("exchange_event_lag_seconds", _seconds((lag,)))


def _webhooks(cursor: Any) -> Iterator[Sample]:
    del cursor  # asked through the connection, within the same limit
    standing = delivery_totals(MOST)
    yield Sample("exchange_webhook_deliveries", standing.waiting, ("waiting",))
    yield Sample("exchange_webhook_deliveries", standing.dead, ("dead",))
    yield Sample("exchange_webhook_lag_seconds", standing.lag)


# The newest of each kind that came to an end, among each supplier's last ones.
FED = f"""
    SELECT s.id, k.kind, extract(epoch FROM now() - j.finished_at)
    FROM accounts_supplier s CROSS JOIN unnest(%s::text[]) AS k (kind), LATERAL (
        SELECT finished_at FROM (
            SELECT status, finished_at, dry_run FROM imports_importjob
            WHERE supplier_id = s.id AND kind = k.kind ORDER BY id DESC LIMIT 50
        ) AS last
        WHERE status IN ('{Status.SUCCEEDED}', '{Status.SUCCEEDED_WITH_ERRORS}') AND NOT dry_run LIMIT 1
    ) AS j
    UNION ALL
    SELECT s.id, 'push', extract(epoch FROM now() - greatest(e.occurred_at,
        (SELECT max(heard_at) FROM inventory_warehouse w WHERE w.supplier_id = s.id)))
    FROM accounts_supplier s, LATERAL (
        SELECT occurred_at FROM events_event
        WHERE supplier_id = s.id AND type = 'inventory.updated' AND number IS NOT NULL
        ORDER BY number DESC LIMIT 1
    ) AS e
"""  # noqa: S608 - of constants


def _feeds(cursor: Any) -> Iterator[Sample]:
    cursor.execute(FED, [[*Kind.values]])
    for supplier_id, kind, age in cursor.fetchall():
        yield Sample("exchange_feed_age_seconds", _seconds((age,)), (str(supplier_id), kind))


def _database(cursor: Any) -> Iterator[Sample]:
    cursor.execute(
        "SELECT (SELECT sum(numbackends) FROM pg_stat_database), current_setting('max_connections')::int,"
        " pg_database_size(current_database())"
    )
    used, most, size = cursor.fetchone()
    yield Sample("exchange_database_connections", float(used))
    yield Sample("exchange_database_connections_limit", most)
    yield Sample("exchange_database_size_bytes", size)


def _seconds(row: tuple[Any, ...] | None) -> float:
    """An age; 0 where there is nothing that could be old."""
    return max(0.0, float(row[0])) if row and row[0] is not None else 0.0


QUESTIONS: tuple[Callable[[Any], Iterator[Sample]], ...] = (
    _orders,
    _fulfillments,
    _imports,
    _events,
    _webhooks,
    _feeds,
    _database,
)

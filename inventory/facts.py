"""Metrics of each supplier: the age of its newest import of each kind, and of its newest stock push."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.facts import MetricSample, age
from imports.models import Status
from imports.models.kind import names

# For each supplier and kind, read the newest successful job among the last 50 jobs. For pushes, read the
# newest count.
FEEDS = f"""
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
"""  # noqa: S608 - built from constants


def feeds(cursor: Any) -> Iterator[MetricSample]:
    cursor.execute(FEEDS, [names()])
    for supplier_id, kind, seconds in cursor.fetchall():
        yield MetricSample("exchange_feed_age_seconds", age((seconds,)), (str(supplier_id), kind))

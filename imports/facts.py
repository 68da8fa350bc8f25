"""Metrics of unfinished imports: for each status, the number of imports and the age of the oldest import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.facts import MetricSample, age
from imports.models import Status

WAITING = (Status.QUEUED, Status.RUNNING, Status.AWAITING_APPROVAL)


def imports(cursor: Any) -> Iterator[MetricSample]:
    cursor.execute(
        "SELECT status, count(*), extract(epoch FROM now() - min(created_at)) FROM imports_importjob"
        " WHERE status = ANY(%s) GROUP BY status",
        [[*WAITING]],
    )
    by_status = {status: (count, oldest) for status, count, oldest in cursor.fetchall()}
    for status in WAITING:
        count, oldest = by_status.get(status, (0, 0))
        yield MetricSample("exchange_imports", count, (str(status),))
        yield MetricSample("exchange_import_oldest_seconds", age((oldest,)), (str(status),))

"""The number of jobs that one supplier may run at the same time."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from imports.states import Status


def has_slot(supplier_id: int, other_jobs: QuerySet[Any]) -> bool:
    """Return whether a supplier may run one more job in addition to its running jobs.

    The advisory lock serializes callers: two concurrent callers could both see the same free slot.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('import slots', %s))", [supplier_id])
    running = other_jobs.filter(supplier_id=supplier_id, status=Status.RUNNING, lease_until__gte=Now())
    return running.count() < settings.IMPORT_SLOTS

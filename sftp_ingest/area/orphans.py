"""The removal of orphaned content: files or objects without a row.

Orphans remain if a transaction is rolled back after its blob was written. Each run checks a part of each
store, and the next run continues after this part. So a store with millions of files is never listed at once.
"""

from __future__ import annotations

import time
from datetime import timedelta

from django.core.cache import cache
from django.db import connection

from sftp_ingest.blobs.store import Store
from sftp_ingest.blobs.stores import stores_in_use
from sftp_ingest.models import Blob

# No transaction stays open longer than this before its rows become visible.
LOST_AFTER = timedelta(days=1)


def collect() -> int:
    """Delete content without a row in a part of each store. Return the number of blobs. Raises OSError."""
    return sum(_collect_some(store) for store in stores_in_use())


def _collect_some(store: Store) -> int:
    key = f"sftp_ingest:orphans:{store.name}"
    # A restored database assigns the same numbers a second time, so the number of an old file may get a new
    # row at any moment. Check only the numbers that were assigned before the last run.
    bookmark, last_assigned = cache.get(key, ("", 0))
    assigned_now = _last_number()
    listed, upcoming = store.look(bookmark)
    oldest = time.time() - LOST_AFTER.total_seconds()
    numbers = {blob.number for blob in listed if blob.changed_at < oldest and blob.number <= last_assigned}
    lost = numbers.difference(Blob.objects.filter(pk__in=numbers).values_list("pk", flat=True))
    for number in lost:
        store.delete(number)
    cache.set(key, (upcoming, assigned_now), None)
    return len(lost)


def _last_number() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM sftp_ingest_blob_id_seq")
        return int(cursor.fetchone()[0])

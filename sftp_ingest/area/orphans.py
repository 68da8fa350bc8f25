"""Content that no row speaks of: of a transaction that was rolled back after its blob was written.

A tick looks at some of each store, and goes on there the next time: so what was lost is found in time, and a
store of millions is never listed at once.
"""

from __future__ import annotations

import time
from datetime import timedelta

from django.core.cache import cache
from django.db import connection

from sftp_ingest.blobs.store import Store
from sftp_ingest.blobs.stores import stores_in_use
from sftp_ingest.models import Blob

# No transaction takes so long to say what it has written.
LOST_AFTER = timedelta(days=1)


def collect() -> int:
    """Delete what has no row in a part of each store; return how many blobs. Raises OSError."""
    return sum(_collect_some(store) for store in stores_in_use())


def _collect_some(store: Store) -> int:
    key = f"sftp_ingest:orphans:{store.name}"
    # A restored database gives out numbers once more: what it gave out since the last look is let be.
    bookmark, given_out = cache.get(key, ("", 0))
    given_out_now = _last_number()
    found, upcoming = store.look(bookmark)
    oldest = time.time() - LOST_AFTER.total_seconds()
    numbers = {each.number for each in found if each.changed_at < oldest and each.number <= given_out}
    lost = numbers.difference(Blob.objects.filter(pk__in=numbers).values_list("pk", flat=True))
    for number in lost:
        store.delete(number)
    cache.set(key, (upcoming, given_out_now), None)
    return len(lost)


def _last_number() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM sftp_ingest_blob_id_seq")
        return int(cursor.fetchone()[0])

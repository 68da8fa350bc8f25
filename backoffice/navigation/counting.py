"""The numbers in the menu: the open work of each desk kind. A periodic task counts; pages read a cache."""

from __future__ import annotations

import logging

from django.core.cache import cache

from backoffice.desk.gathering import DeskFilter, gather
from backoffice.desk.kinds import KINDS
from fastdb.standbys.reads import reads_from_standby

logger = logging.getLogger(__name__)

KEY = "backoffice:desk-counts"
SECONDS = 120
"""The lifetime of a cached count, if the task does not renew it."""
COUNTED = 100
DESK = "desk"


@reads_from_standby
def count_waiting() -> dict[str, str]:
    """Count the rows of each kind, and cache the texts that the menu shows, by the kind's name."""
    page = gather(KINDS, DeskFilter(), count=1)
    counts = {kind.name: capped(count) for kind, count in page.counts}
    counts[DESK] = capped(page.waiting)
    cache.set(KEY, counts, SECONDS)
    return counts


def capped(count: int) -> str:
    """Return a count as the menu shows it: empty for 0, and `100+` above COUNTED."""
    return f"{COUNTED}+" if count > COUNTED else str(count or "")


def cached_counts() -> dict[str, str]:
    """Return the cached counts; empty if they expired or the cache does not answer."""
    try:
        counts: dict[str, str] = cache.get(KEY) or {}
    except Exception:  # noqa: BLE001 - without Redis, pages show no counts
        logger.warning("the menu shows no counts: the cache does not answer")
        return {}
    return counts

"""What waits at each place, counted by a tick now and then: no page counts for itself."""

from __future__ import annotations

import logging

from django.core.cache import cache

from backoffice.desk.gathering import Wanted, gather
from backoffice.queues import COUNTED, QUEUES

logger = logging.getLogger(__name__)

KEY = "backoffice:waiting"
SECONDS = 120
"""How long a count is shown that nobody has renewed."""
DESK = "desk"


class Everybody:
    """Sees all kinds: what somebody may not see is left out where it is shown."""

    def has_perm(self, permission: str) -> bool:
        return True


def count_waiting() -> dict[str, str]:
    """Count each queue, up to COUNTED, and keep the counts for all pages."""
    counts = {}
    for queue in QUEUES:
        found = len(queue.rows().order_by("id").values_list("pk", flat=True)[: COUNTED + 1])
        counts[queue.title] = f"{COUNTED}+" if found > COUNTED else str(found or "")
    total = gather(Everybody(), Wanted()).total  # type: ignore[arg-type]  # asked for its permissions alone
    waiting = int(total.rstrip("+"))
    counts[DESK] = f"{COUNTED}+" if waiting > COUNTED else str(total if waiting else "")
    cache.set(KEY, counts, SECONDS)
    return counts


def counted() -> dict[str, str]:
    """The last counts, empty where nothing waits or nobody has counted."""
    try:
        found: dict[str, str] = cache.get(KEY) or {}
    except Exception:  # noqa: BLE001 - without Redis pages come without counts
        logger.warning("what waits is not shown: the cache does not answer")
        return {}
    return found

"""One line for each import that comes to rest."""

from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger("exchange.import")

LINE = "import %(import_id)s of %(kind)s %(status)s: %(rows)s rows, %(rejected)s rejected, %(seconds)s s"


def log_outcome(job: Any) -> None:
    """What became of it, how many rows that were, and how long it took since a worker had it first."""
    began, ended = job.started_at, job.finished_at
    facts = {
        "import_id": job.pk,
        "kind": job.kind,
        "status": job.status,
        "rows": job.rows_done,
        "rejected": job.rejected,
        "seconds": round((ended - began).total_seconds(), 1) if began and ended else 0,
    }
    logger.info(LINE, facts, extra=facts)

"""Log one line for each import that ends."""

from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger("exchange.import")

LINE = "import %(import_id)s of %(kind)s %(status)s: %(rows)s rows, %(rejected)s rejected, %(seconds)s s"


def log_outcome(job: Any) -> None:
    """Log the result, the number of rows, and the seconds since a worker first started the job."""
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

"""The nightly reconcile. It reports differences and repairs nothing, because a repair stops all writers."""

from __future__ import annotations

import logging

from fastdb import leased
from orders.nightly_results import Reconciliation
from orders.reconciling.reconciling import differences

logger = logging.getLogger(__name__)

# The task is called by its name, because the task's module imports this module.
RUN_TASK = "orders.tasks.reconcile"
MOST_LOGGED = 100


def wake_if_due() -> None:
    """Wake a worker if tonight's run has not begun. A run may take minutes, too long for a periodic task."""
    if Reconciliation.is_due():
        leased.wake(RUN_TASK)


def run() -> int | None:
    """Count the differences, and log the first MOST_LOGGED. Return None if no run is due."""
    claimed = Reconciliation.claim()
    if claimed is None:
        return None
    found = 0
    for found, difference in enumerate(differences(), 1):
        if found <= MOST_LOGGED:
            logger.warning("reconcile: %s", difference)
    claimed.finish(found)
    return found

"""The nightly reconcile: it reports differences and repairs nothing, because repairs stop all writers."""

from __future__ import annotations

import logging

from fastdb import leased
from orders.nightly_results import Reconciliation
from orders.reconciling.reconciling import differences

logger = logging.getLogger(__name__)

# Use the task's name: the task's module imports this module.
RUN_TASK = "orders.tasks.reconcile"
MOST_LOGGED = 100


def wake_if_due() -> None:
    """Wake a worker if tonight's run has not begun. It may take minutes: too long for a tick."""
    if Reconciliation.is_due():
        leased.wake(RUN_TASK)


def run() -> int | None:
    """Count the differences, and log the first ones; return None if no run is due."""
    claimed = Reconciliation.claim()
    if claimed is None:
        return None
    found = 0
    for found, difference in enumerate(differences(), 1):
        if found <= MOST_LOGGED:
            logger.warning("reconcile: %s", difference)
    claimed.finish(found)
    return found

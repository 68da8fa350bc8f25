"""Read the first rows of packed drafts in a worker, because even a small workbook can take a minute to open.

The table of drafts is the queue. A worker holds a draft under a lease and renews the lease about once a
second. If the draft was discarded, the renewal fails and the worker stops.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db.models import F

from fastdb import leased
from fastdb.leased import LeaseLost
from imports.drafts.sample import as_json, read_sample
from imports.kinds import kind_of
from imports.models import ImportDraft
from imports.pipeline.errors import Unreadable
from imports.pipeline.mapping import ALIASES
from sftp_ingest.area import contents

logger = logging.getLogger(__name__)

READ_TASK = "imports.tasks.read_draft"
RENEW_SECONDS = 1.0
MOST_ATTEMPTS = 3
TOO_HARD = "The file could not be read: the service stopped while it read it. Save the sheet as CSV."


class UnreadableDraft(Unreadable):
    """A draft that a worker could not read. Only a page shows the problem, so the error has no code."""

    def __init__(self, problem: str) -> None:
        super().__init__("", problem)


def wake_reader(draft_id: int) -> None:
    """Wake a worker for a draft. If the message is lost, the next sweep wakes a worker."""
    leased.wake(READ_TASK, draft_id)


def wake_waiting_readers() -> None:
    """Wake workers for the drafts that must be read and that no worker holds."""
    for draft_id in ImportDraft.unfinished():
        wake_reader(draft_id)


def read_draft(draft_id: int) -> None:
    """Store the first rows of a draft, or the reason why it cannot be read."""
    draft = ImportDraft.claim(draft_id, leased.new_owner())
    if draft is None:
        return
    try:
        if draft.attempts >= MOST_ATTEMPTS:  # a file that crashes its worker must not be read forever
            draft.held().update(problem=TOO_HARD)
            return
        draft.held().update(attempts=F("attempts") + 1)
        known = {*kind_of(draft.kind).importer.columns, *ALIASES}
        with contents.local_file(draft.blob) as path:
            sample = read_sample(path, known, _renewing(draft))
        draft.held().update(sample=as_json(sample))
    except LeaseLost:
        logger.info("draft %s was discarded while it was read", draft_id)
    except Unreadable as error:
        draft.held().update(problem=error.message)
    except OSError:
        logger.exception("draft %s cannot be read now", draft_id)
    finally:
        draft.release()


def _renewing(draft: ImportDraft) -> Callable[[], None]:
    """Return a function that renews the lease if a second has passed since the last renewal.

    The reader calls the function repeatedly. The function raises LeaseLost if the draft was discarded.
    """
    renewed_at = time.monotonic()

    def check() -> None:
        nonlocal renewed_at
        if time.monotonic() - renewed_at >= RENEW_SECONDS:
            renewed_at = time.monotonic()
            draft.extend()

    return check

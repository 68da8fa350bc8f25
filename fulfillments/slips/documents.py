"""Makes the document of some slips: a short one at once, a long one in a process of its own (ADR 111)."""

from __future__ import annotations

import subprocess
import sys
from threading import BoundedSemaphore

import msgspec
from django.conf import settings

from api.errors import Busy
from fulfillments.slips.contents import SlipBatch, SlipDocument

# A short document takes less than 0.1 s, a process needs half a second to begin.
MOST_SLIPS_AT_ONCE, MOST_LINES_AT_ONCE = 10, 200
LONGEST_WAIT, LONGEST_DRAWING = 5, 60

_one_process = BoundedSemaphore()


def make_document(batch: SlipBatch) -> SlipDocument:
    """Draw a batch. Raises Busy if another long document is being drawn for too long."""
    if len(batch.slips) <= MOST_SLIPS_AT_ONCE and batch.line_count <= MOST_LINES_AT_ONCE:
        from fulfillments.slips.drawing import draw  # fpdf2 and its fonts take 40 MB of each process

        return draw(batch)
    if not _one_process.acquire(timeout=LONGEST_WAIT):
        raise Busy("Another long document is being made. Try again in a few seconds.")
    try:
        return _drawn_elsewhere(batch)
    finally:
        _one_process.release()


def _drawn_elsewhere(batch: SlipBatch) -> SlipDocument:
    done = subprocess.run(
        [sys.executable, "-m", "fulfillments.slips.drawing_process"],
        input=msgspec.msgpack.encode(batch),
        stdout=subprocess.PIPE,
        cwd=settings.BASE_DIR,
        timeout=LONGEST_DRAWING,
        check=True,
    )
    return msgspec.msgpack.decode(done.stdout, type=SlipDocument)

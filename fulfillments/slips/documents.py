"""The drawing of documents: short documents in this process, long documents in another process (ADR 111)."""

from __future__ import annotations

import subprocess
import sys
from threading import BoundedSemaphore

import msgspec
from django.conf import settings

from api.errors import Busy
from fulfillments.slips.contents import SlipBatch, SlipDocument

# This process draws documents up to these numbers of slips and of lines. Their drawing takes less than 0.1 s,
# but a new process needs half a second to begin.
MOST_SLIPS_AT_ONCE, MOST_LINES_AT_ONCE = 10, 200
# The seconds that a document may wait for another document, and the seconds that its drawing may take.
LONGEST_WAIT, LONGEST_DRAWING = 5, 60

_one_process = BoundedSemaphore()


def make_document(batch: SlipBatch) -> SlipDocument:
    """Draw the slips. Raises Busy if the drawing, or the wait for another document, takes too long."""
    if len(batch.slips) <= MOST_SLIPS_AT_ONCE and batch.line_count <= MOST_LINES_AT_ONCE:
        from fulfillments.slips.drawing import draw  # import fpdf2 late: it takes 40 MB of memory

        return draw(batch)
    if not _one_process.acquire(timeout=LONGEST_WAIT):
        raise Busy("Another long document is being made. Try again in a few seconds.")
    try:
        return _drawn_elsewhere(batch)
    finally:
        _one_process.release()


def _drawn_elsewhere(batch: SlipBatch) -> SlipDocument:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fulfillments.slips.drawing_process"],
            input=msgspec.msgpack.encode(batch),
            stdout=subprocess.PIPE,
            cwd=settings.BASE_DIR,
            timeout=LONGEST_DRAWING,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise Busy(
            f"The document was not finished within {LONGEST_DRAWING} s."
            " Print fewer fulfillments at once, or try again."
        ) from None
    return msgspec.msgpack.decode(done.stdout, type=SlipDocument)

"""How full the areas are: counted as bytes come in, so that a quota is met before it is passed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from sftp_ingest.areas import Area
from sftp_ingest.errors import Refused

STALE_AFTER = 60.0  # seconds; an area at rest is measured again after that


@dataclass
class Count:
    """The bytes of one area, with those on their way in."""

    used: int
    measured_at: float
    incoming: int = 0


class Ledger:
    """The counts of all areas, for all sessions of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[int, Count] = {}

    def begin(self, area: Area) -> None:
        """A file begins to come in."""
        with self._lock:
            count = self._counts.get(area.supplier_id)
            fresh = count is not None and time.monotonic() - count.measured_at < STALE_AFTER
            if count is None or not (fresh or count.incoming):
                count = self._counts[area.supplier_id] = Count(area.size(), time.monotonic())
            count.incoming += 1

    def end(self, area: Area, given_back: int) -> None:
        """A file is in or was dropped; so many bytes are free again."""
        with self._lock:
            count = self._counts[area.supplier_id]
            count.incoming -= 1
            count.used -= given_back

    def take(self, area: Area, size: int, quota: int) -> None:
        """Count bytes that are about to be written. Raises Refused when they do not fit."""
        with self._lock:
            count = self._counts[area.supplier_id]
            if count.used + size > quota:
                raise Refused(f"The upload area is full: it holds {quota} bytes. Remove what is done with.")
            count.used += size

    def freed(self, area: Area, size: int) -> None:
        """A file was removed."""
        with self._lock:
            if area.supplier_id in self._counts:
                self._counts[area.supplier_id].used -= size


ledger = Ledger()

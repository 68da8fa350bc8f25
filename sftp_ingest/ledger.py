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

    @property
    def stale(self) -> bool:
        """Whether to measure anew: others than this process remove files, too."""
        return not self.incoming and time.monotonic() - self.measured_at > STALE_AFTER


class Ledger:
    """The counts of all areas, for all sessions of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[int, Count] = {}

    def begin(self, area: Area) -> None:
        """A file begins to come in."""
        known = self._counts.get(area.supplier_id)
        # Slow, so not under the lock, which all suppliers share.
        measured = Count(area.size(), time.monotonic()) if known is None or known.stale else None
        with self._lock:
            current = self._counts.get(area.supplier_id)
            if measured and (current is None or current.stale):
                current = self._counts[area.supplier_id] = measured
            assert current is not None  # measured, if it was not known
            current.incoming += 1

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

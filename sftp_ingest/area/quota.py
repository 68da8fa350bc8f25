"""How full the areas are, counted as bytes come in: what does not fit is refused while it is written."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from sftp_ingest.area.cut_uploads import bytes_kept
from sftp_ingest.area.files import Area
from sftp_ingest.errors import Refused

MEASURE_AFTER = 60.0  # seconds; an area at rest is measured again after that


@dataclass
class Usage:
    """The bytes of one area, including those of uploads that are not finished."""

    used: int
    measured_at: float
    incoming: int = 0

    @property
    def stale(self) -> bool:
        """Whether to measure anew: others than this process remove files, too."""
        return not self.incoming and time.monotonic() - self.measured_at > MEASURE_AFTER


class UsageCounter:
    """The bytes in all areas, for all sessions of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usages: dict[int, Usage] = {}

    def begin_upload(self, area: Area) -> None:
        """Measure the area unless that was done lately, and count one more unfinished upload."""
        measured = self._measure(area)
        with self._lock:
            self._current(area, measured).incoming += 1

    def used(self, area: Area) -> int:
        """The bytes that count against the quota, with unfinished ones."""
        measured = self._measure(area)
        with self._lock:
            return self._current(area, measured).used

    def _measure(self, area: Area) -> Usage | None:
        """Measure what is not known lately. Slow, so not under the lock, which all suppliers share."""
        known = self._usages.get(area.supplier_id)
        if known is not None and not known.stale:
            return None
        return Usage(area.size() + bytes_kept(area.supplier_id), time.monotonic())

    def _current(self, area: Area, measured: Usage | None) -> Usage:
        current = self._usages.get(area.supplier_id)
        if measured and (current is None or current.stale):
            current = self._usages[area.supplier_id] = measured
        assert current is not None  # measured, if it was not known
        return current

    def end_upload(self, area: Area, freed: int) -> None:
        """An upload was finished or dropped, which freed so many bytes."""
        with self._lock:
            usage = self._usages[area.supplier_id]
            usage.incoming -= 1
            usage.used -= freed

    def add(self, area: Area, size: int, quota: int) -> None:
        """Count bytes that are about to be written. Raises Refused when the quota does not allow them."""
        with self._lock:
            usage = self._usages[area.supplier_id]
            if usage.used + size > quota:
                raise Refused(
                    f"The upload area is full: it holds {quota} bytes. Remove what is no longer needed."
                )
            usage.used += size

    def subtract(self, area: Area, size: int) -> None:
        """A file was removed."""
        with self._lock:
            if area.supplier_id in self._usages:
                self._usages[area.supplier_id].used -= size


usage_counter = UsageCounter()

"""The record of the bytes of an upload that have arrived, in any order."""

from __future__ import annotations

MOST_AHEAD = 1000  # recorded chunks beyond a gap; clients send only some dozens of chunks ahead


class ReceivedChunks:
    """The received parts of a file: its first `whole_to` bytes, and chunks that arrived beyond a gap."""

    def __init__(self, whole_to: int = 0) -> None:
        self.whole_to = whole_to
        self._ahead: dict[int, int] = {}  # the end of each chunk, by its start

    def add(self, start: int, end: int) -> None:
        if start > self.whole_to:
            if len(self._ahead) < MOST_AHEAD:
                self._ahead[start] = max(end, self._ahead.get(start, 0))
            return
        self.whole_to = max(self.whole_to, end)
        if self._ahead:
            self._join()

    def cut(self, size: int) -> None:
        """Forget the bytes beyond a size."""
        self.whole_to = min(self.whole_to, size)
        self._ahead = {start: min(end, size) for start, end in self._ahead.items() if start < size}

    def _join(self) -> None:
        for start in sorted(self._ahead):
            if start > self.whole_to:
                return
            self.whole_to = max(self.whole_to, self._ahead.pop(start))

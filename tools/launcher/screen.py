"""The output of all processes on one screen. Each line begins with the name of its process."""

import os
import queue
import sys
import threading
from typing import IO

COLOURS = (36, 33, 32, 35, 34, 31, 96, 93, 92, 95)
NAME_WIDTH = 9
MAX_QUEUED = 20_000  # lines that may wait for a slow reader; further lines are dropped
FLUSH_TIMEOUT = 2.0  # seconds to write the last lines


class Screen:
    """A writer of lines from a separate thread, so that a slow terminal or pipe does not block the loop."""

    def __init__(self, stream: IO[str], *, coloured: bool) -> None:
        self._stream = stream
        self._coloured = coloured
        self._names: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_QUEUED)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def say(self, name: str, text: str) -> None:
        """Queue a process's text, line by line."""
        prefix = self._prefix(name)
        for line in text.splitlines() or [""]:
            # A line of JSON gets the name as a field, so that the line remains JSON.
            marked = f'{{"part": "{name}", {line[1:]}' if line.startswith('{"') else f"{prefix}{line}"
            try:
                self._lines.put_nowait(f"{marked}\n")
            except queue.Full:
                return  # the reader is too slow, and losing lines is better than blocking

    def close(self) -> None:
        """Wait until the last lines are written, at most FLUSH_TIMEOUT seconds."""
        try:
            self._lines.put(None, timeout=FLUSH_TIMEOUT)
        except queue.Full:
            return
        self._thread.join(FLUSH_TIMEOUT)

    def _prefix(self, name: str) -> str:
        if name not in self._names:
            self._names.append(name)
        prefix = f"{name:<{NAME_WIDTH}} | "
        if not self._coloured:
            return prefix
        colour = COLOURS[self._names.index(name) % len(COLOURS)]
        return f"\x1b[{colour}m{prefix}\x1b[0m"

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._stream.write(line)
                if self._lines.empty():
                    self._stream.flush()
            except OSError:  # the reader has closed the stream: drop all further lines and keep running
                self._redirect_to_devnull()

    def _redirect_to_devnull(self) -> None:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, self._stream.fileno())
        os.close(devnull)


def supports_colour(stream: IO[str], environment: dict[str, str]) -> bool:
    """Return whether the stream is a terminal and NO_COLOR is not set."""
    return stream.isatty() and not environment.get("NO_COLOR")


def standard_screen(environment: dict[str, str]) -> Screen:
    """Return the screen on standard output."""
    return Screen(sys.stdout, coloured=supports_colour(sys.stdout, environment))

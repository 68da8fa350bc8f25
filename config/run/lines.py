"""Everybody's output on one screen, each line marked with who said it."""

import os
import queue
import sys
import threading
from typing import IO

COLOURS = (36, 33, 32, 35, 34, 31, 96, 93, 92, 95)
WIDTH = 9
WAITING = 20_000  # lines that may wait for a slow reader before some are dropped
PATIENCE = 2.0  # seconds for the last lines to go out


class Screen:
    """Writes lines from a thread of its own, so that a reader who sleeps holds up nothing."""

    def __init__(self, stream: IO[str], *, coloured: bool) -> None:
        self._stream = stream
        self._coloured = coloured
        self._names: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def say(self, name: str, text: str) -> None:
        """Queue what somebody said, line by line."""
        mark = self._mark(name)
        for line in text.splitlines() or [""]:
            try:
                self._lines.put_nowait(f"{mark}{line}\n")
            except queue.Full:
                return  # nobody reads: losing lines is better than standing still

    def close(self) -> None:
        """Let the last lines go out."""
        try:
            self._lines.put(None, timeout=PATIENCE)
        except queue.Full:
            return
        self._thread.join(PATIENCE)

    def _mark(self, name: str) -> str:
        if name not in self._names:
            self._names.append(name)
        mark = f"{name:<{WIDTH}} | "
        if not self._coloured:
            return mark
        colour = COLOURS[self._names.index(name) % len(COLOURS)]
        return f"\x1b[{colour}m{mark}\x1b[0m"

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._stream.write(line)
                if self._lines.empty():
                    self._stream.flush()
            except OSError:  # the reader went away: stay quiet, and keep running
                self._send_nowhere()

    def _send_nowhere(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


def terminal_wants_colour(stream: IO[str], environment: dict[str, str]) -> bool:
    """Colours for a person's terminal, unless NO_COLOR says otherwise."""
    return stream.isatty() and not environment.get("NO_COLOR")


def standard_screen(environment: dict[str, str]) -> Screen:
    """The screen on our standard output."""
    return Screen(sys.stdout, coloured=terminal_wants_colour(sys.stdout, environment))

"""The output of the demo: each step, its requests, the main fields of the answers, and the times."""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from tools.demo.client import DemoAnswer

WIDTH = 108
INDENT = "     "


class Console:
    """A writer of the demo's steps to `out`, in color if requested."""

    def __init__(self, out: Callable[[str], object], *, colour: bool = False) -> None:
        self._out, self._colour = out, colour
        self._started = time.perf_counter()
        self.step_number = 0
        self.title = ""

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    def step(self, title: str) -> None:
        """Begin the next step."""
        self.step_number += 1
        self.title = title
        self._out("")
        self._out(self._paint("1", f"{self.step_number:3}  {title}"))

    def answer(self, answer: DemoAnswer, body: Any) -> None:
        """Show a request and its status. `say` shows the main fields of the answer."""
        self._wrapped(self._paint("36", unquote(answer.request)))
        if body:
            self._wrapped(json.dumps(body, ensure_ascii=False))
        good = "32" if answer.status < 400 else "31"
        self._out(f"{INDENT}{self._paint(good, str(answer.status))}  {answer.seconds * 1000:.0f} ms")

    def action(self, line: str, seconds: float) -> None:
        """Show an action that is not an HTTP request."""
        self._wrapped(self._paint("36", line))
        self._out(f"{INDENT}{self._paint('32', 'done')}  {seconds * 1000:.0f} ms")

    def say(self, text: str) -> None:
        """Show a result in words."""
        self._wrapped(f"→ {text}")

    def end(self, text: str) -> None:
        self._out("")
        self._out(self._paint("1;32", text))

    def _wrapped(self, text: str) -> None:
        for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False):
            self._out(INDENT + line)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

"""The supervisor: one loop that starts parts, passes on their output, restarts them, and ends them."""

import os
import selectors
import signal
import time
from collections.abc import Callable
from functools import partial
from types import FrameType, TracebackType

from config.processes.leash import Leash
from config.processes.program import Program
from config.run.lines import Screen
from config.run.parent import Make
from config.run.part import Output, Part, how_it_ended

OURS = "exchange"  # the name in front of the supervisor's own lines
BREATH = 1.0  # seconds the loop sleeps at most


class Ended(Exception):
    """Somebody asked for the end."""


class Supervisor:
    """Holds every part. All of it happens in the main thread, between two waits."""

    def __init__(self, screen: Screen, leash: Leash) -> None:
        self.leash = leash
        self._screen = screen
        self._layers: list[list[Part]] = []
        self._staying: dict[Part, Callable[[], None]] = {}
        self._asked: str | None = None
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._make = Make()

    def __enter__(self) -> "Supervisor":
        self._bell, ring = os.pipe()
        for end in (self._bell, ring):
            os.set_blocking(end, False)
        self._selector.register(self._bell, selectors.EVENT_READ)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only so that it rings the bell
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.stop()

    def say(self, text: str, name: str = OURS) -> None:
        """Put a line on the screen."""
        self._screen.say(name, text)

    def start(self, *programs: Program) -> list[Part]:
        """Start programs that will be ended together, before all that were started earlier."""
        layer: list[Part] = []
        self._layers.append(layer)
        for program in programs:
            part = Part(program, self.leash, partial(self._screen.say, program.name))
            layer.append(part)
            self._start(part)
        return layer

    def keep(self, part: Part, before: Callable[[], None] = lambda: None) -> None:
        """From now on start this part again when it ends; `before` runs before each such start."""
        self._staying[part] = before

    def run(self, *programs: Program) -> list[int]:
        """Run programs side by side to their end; their exit codes."""
        parts = self.start(*programs)
        self.pump(lambda: all(part.code is not None for part in parts))
        return [part.code or 0 for part in parts]

    def pump(self, until: Callable[[], bool], patience: float = float("inf"), step: float = BREATH) -> bool:
        """Go on until a condition holds, looked at every `step` seconds. Raises Ended when asked to end."""
        deadline = time.monotonic() + patience
        while not until():
            if time.monotonic() > deadline:
                return False
            self._turn(step)
            self._asked = self._asked or self._make.ended()
            if self._asked and not self._stopping:
                raise Ended(self._asked)
        return True

    def stop(self) -> None:
        """End every part, those started last first, and wait for them."""
        self._stopping = True
        while self._layers:
            self._end_layer(self._layers[-1])
            self._layers.pop()

    def _end_layer(self, parts: list[Part]) -> None:
        def all_ended() -> bool:
            return all(part.code is not None for part in parts)

        for part in parts:
            part.ask_to_end()
        if not self.pump(all_ended, max(part.program.patience for part in parts)):
            for part in parts:
                part.insist()
            self.pump(all_ended)

    def _turn(self, step: float) -> None:
        due = [part.start_at for part in self._staying if part.start_at]
        wait = min([step, *(max(0.0, at - time.monotonic()) for at in due)])
        for key, _ in self._selector.select(wait):
            if isinstance(key.data, Output):
                self._listen(key.data)
            else:
                os.read(self._bell, 4096)
        self._look_after_parts()
        self.leash.check()

    def _look_after_parts(self) -> None:
        for part in [part for layer in self._layers for part in layer]:
            if part.ended():
                self._mourn(part)
            elif part.start_at and part.start_at <= time.monotonic() and not self._stopping:
                self._staying[part]()
                self._start(part)

    def _mourn(self, part: Part) -> None:
        if self._stopping or part not in self._staying:
            return
        wait = part.plan_restart()
        ending = how_it_ended(part.code or 0)
        self.say(f"{part.program.name} ended ({ending}); it starts again in {wait:g} s")

    def _start(self, part: Part) -> None:
        try:
            output = part.start()
        except OSError as error:
            self.say(f"{part.program.name} cannot be started: {error}")
            self._mourn(part)
        else:
            self._selector.register(output.pipe, selectors.EVENT_READ, output)

    def _listen(self, output: Output) -> None:
        if output.open:
            output.read()
        if not output.open:
            self._selector.unregister(output.pipe)
            os.close(output.pipe)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._asked = signal.Signals(number).name

"""The supervisor: one loop that starts, restarts and stops processes and passes on their output."""

import os
import selectors
import signal
import time
from collections.abc import Callable
from functools import partial
from types import FrameType, TracebackType

from tools.launcher.managed_process import ManagedProcess, Output, describe_exit
from tools.launcher.parent_make import ParentMake
from tools.launcher.processes.program import Program
from tools.launcher.reaper.client import Reaper
from tools.launcher.screen import Screen

OURS = "exchange"  # the name in front of the supervisor's own lines
MAX_WAIT = 1.0  # the most seconds that the loop sleeps


class StopRequested(Exception):
    """The request to stop, because of a signal or the end of make."""


class Supervisor:
    """The supervisor of all processes. All its work happens in the main thread, in the turns of one loop."""

    def __init__(self, screen: Screen, reaper: Reaper) -> None:
        self.reaper = reaper
        self._screen = screen
        self._layers: list[list[ManagedProcess]] = []  # the processes of a layer start and stop together
        self._kept_running: dict[ManagedProcess, Callable[[], None]] = {}
        self._stop_reason: str | None = None
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._make = ParentMake()

    def __enter__(self) -> "Supervisor":
        self._wakeup, wakeup_write_end = os.pipe()
        for end in (self._wakeup, wakeup_write_end):
            os.set_blocking(end, False)
        self._selector.register(self._wakeup, selectors.EVENT_READ)
        signal.set_wakeup_fd(wakeup_write_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup, SIGHUP is already ignored and must stay ignored.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler is needed for the signal to wake the loop
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.stop()

    def say(self, text: str, name: str = OURS) -> None:
        """Print a line."""
        self._screen.say(name, text)

    def start(self, *programs: Program) -> list[ManagedProcess]:
        """Start programs as one layer. Later layers stop before earlier layers."""
        layer: list[ManagedProcess] = []
        self._layers.append(layer)
        for program in programs:
            process = ManagedProcess(program, self.reaper, partial(self._screen.say, program.name))
            layer.append(process)
            self._start(process)
        return layer

    def keep_running(
        self, process: ManagedProcess, before_restart: Callable[[], None] = lambda: None
    ) -> None:
        """Start this process again whenever it ends."""
        self._kept_running[process] = before_restart

    def run_to_end(self, *programs: Program) -> list[int]:
        """Run programs in parallel to their end and return their exit codes."""
        processes = self.start(*programs)
        self.run_until(lambda: all(process.code is not None for process in processes))
        return [process.code or 0 for process in processes]

    def run_until(
        self, condition: Callable[[], bool], timeout: float = float("inf"), step: float = MAX_WAIT
    ) -> bool:
        """Run the loop until a condition holds, or return False after the timeout.

        The condition is checked every `step` seconds. Raises StopRequested for a signal or the end of make.
        """
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                return False
            self._run_once(step)
            self._stop_reason = self._stop_reason or self._make.stop_reason()
            if self._stop_reason and not self._stopping:
                raise StopRequested(self._stop_reason)
        return True

    def stop(self) -> None:
        """Stop all layers of processes, the last layer first, and wait for their ends."""
        self._stopping = True
        while self._layers:
            self._stop_layer(self._layers[-1])
            self._layers.pop()

    def _stop_layer(self, processes: list[ManagedProcess]) -> None:
        def all_ended() -> bool:
            return all(process.code is not None for process in processes)

        for process in processes:
            process.terminate()
        timeout = max((process.program.stop_timeout for process in processes), default=0.0)
        if not self.run_until(all_ended, timeout):
            for process in processes:
                process.kill()
            self.run_until(all_ended)

    def _run_once(self, step: float) -> None:
        due = [process.start_at for process in self._kept_running if process.start_at]
        wait = min([step, *(max(0.0, at - time.monotonic()) for at in due)])
        for key, _ in self._selector.select(wait):
            if isinstance(key.data, Output):
                self._read(key.data)
            else:
                os.read(self._wakeup, 4096)
        self._check_processes()
        self.reaper.restart_if_dead()

    def _check_processes(self) -> None:
        for process in [process for layer in self._layers for process in layer]:
            if process.has_ended():
                self._schedule_restart(process)
            elif process.start_at and process.start_at <= time.monotonic() and not self._stopping:
                self._kept_running[process]()
                self._start(process)

    def _schedule_restart(self, process: ManagedProcess) -> None:
        if self._stopping or process not in self._kept_running:
            return
        wait = process.plan_restart()
        exit_text = describe_exit(process.code or 0)
        self.say(f"{process.program.name} ended ({exit_text}); it starts again in {wait:g} s")

    def _start(self, process: ManagedProcess) -> None:
        try:
            output = process.start()
        except OSError as error:
            self.say(f"{process.program.name} cannot be started: {error}")
            self._schedule_restart(process)
        else:
            self._selector.register(output.read_end, selectors.EVENT_READ, output)

    def _read(self, output: Output) -> None:
        if output.open:
            output.read()
        if not output.open:
            self._selector.unregister(output.read_end)
            os.close(output.read_end)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._stop_reason = signal.Signals(number).name

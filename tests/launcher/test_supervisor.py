"""The supervisor restarts its processes. When the supervisor ends, all its processes end."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launcher.waiting import eventually, eventually_gone
from tools.launcher.down import down
from tools.launcher.managed_process import wait_before_restart
from tools.launcher.processes.command_line import command_of

pytestmark = pytest.mark.program


class Tiny:
    """A running tests.launcher.tiny_supervisor."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        # `make down` recognizes a supervisor by "-m tools.launcher".
        command = [sys.executable, "-m", "tests.launcher.tiny_supervisor", str(folder), "-m tools.launcher"]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        up = folder / "up"
        eventually(lambda: up.exists() and up.read_text() != "", "the tiny supervisor is up")

    def pid(self, name: str) -> int:
        return int((self.folder / f"{name}.pid").read_text())

    def all_pids(self) -> list[int]:
        programs = [self.pid(name) for name in ("first", "first-child", "second", "second-child")]
        pids = [self.process.pid, self.reaper(), *programs]
        assert all(command_of(pid) for pid in pids)
        return pids

    def reaper(self) -> int:
        return int((self.folder / "up").read_text())

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Tiny]:
    running = Tiny(tmp_path)
    yield running
    running.process.kill()
    running.process.wait()


def test_a_process_that_dies_is_started_again_and_the_log_says_so(tiny: Tiny) -> None:
    dead, orphan = tiny.pid("first"), tiny.pid("first-child")
    os.kill(dead, signal.SIGKILL)
    eventually(lambda: tiny.pid("first") != dead, "it has a new process")
    eventually_gone([dead, orphan])
    assert "exchange  | first ended (signal SIGKILL); it starts again in 0.5 s\n" in tiny.log.read_text()


def test_the_waits_between_restarts_grow_up_to_half_a_minute() -> None:
    assert [wait_before_restart(n) for n in (1, 2, 3, 4, 7, 99)] == [0.5, 1, 2, 4, 30, 30]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_everything_and_leaves_no_process(tiny: Tiny, number: signal.Signals) -> None:
    pids = tiny.all_pids()
    assert tiny.end(number) == 0
    eventually_gone(pids)


def test_processes_end_in_the_order_opposite_to_their_start(tiny: Tiny) -> None:
    tiny.end(signal.SIGTERM)
    goodbyes = [line for line in tiny.log.read_text().splitlines() if "goodbye" in line]
    assert goodbyes == ["second    | goodbye", "first     | goodbye"]


@pytest.mark.fault
def test_a_supervisor_killed_outright_leaves_no_process(tiny: Tiny) -> None:
    pids = tiny.all_pids()
    tiny.end(signal.SIGKILL)
    eventually_gone(pids)


@pytest.mark.fault
def test_a_killed_reaper_is_replaced(tiny: Tiny) -> None:
    pids = tiny.all_pids()
    os.kill(tiny.reaper(), signal.SIGKILL)
    eventually(lambda: len(reapers_of(tiny.process.pid)) == 1, "there is a new reaper")
    tiny.end(signal.SIGKILL)
    eventually_gone(pids)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_everything_ends_with_the_make_that_started_it(tmp_path: Path, number: signal.Signals) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text("run:\n\t@exec $(COMMAND)\n")
    command = f"COMMAND={shlex.join([sys.executable, '-m', 'tests.launcher.tiny_supervisor', str(tmp_path)])}"
    make = subprocess.Popen(["make", "-s", "-f", str(makefile), "run", command], start_new_session=True)
    eventually((tmp_path / "up").exists, "the tiny supervisor is up")
    pids = [
        int(path.read_text()) for path in [*tmp_path.glob("*.pid"), tmp_path / "up", tmp_path / "run.lock"]
    ]
    assert len(pids) == 6
    make.send_signal(number)
    make.wait(60)
    eventually_gone(pids)


def test_down_ends_the_run_of_its_folder_and_waits(tiny: Tiny) -> None:
    pids = tiny.all_pids()
    message = down(tiny.folder)
    assert message == f"Stopped process {tiny.process.pid} and all processes that it started."
    tiny.process.wait(60)
    assert not any(command_of(pid) for pid in pids)
    assert down(tiny.folder) == f"Nothing runs in {tiny.folder}."


def reapers_of(pid: int) -> list[str]:
    command = ["ps", "-ww", "--ppid", str(pid), "-o", "stat=,args="]
    listing = subprocess.run(command, capture_output=True, text=True)
    return [line for line in listing.stdout.splitlines() if "reaper/process.py" in line and line[0] != "Z"]

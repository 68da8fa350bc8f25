"""The watchdog kills a part of the service whose signs of life stop. Other commands run to their end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from api import main_loop, signs_of_life, watchdog
from api.main_loop import MainLoop

SOON = 0.3
LIVES = "import time, pathlib; sign = pathlib.Path(__import__('os').environ['SIGN_FILE']); sign.touch()"


@pytest.fixture(autouse=True)
def _signals_of_the_tests():
    """Restore the signal handlers after each test, because the watchdog replaces them in its process."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_a_part_whose_signs_stop_is_killed(tmp_path):
    began = time.monotonic()
    code = watchdog.run([sys.executable, "-c", f"{LIVES}; time.sleep(60)"], tmp_path / "sign", SOON)
    assert code == watchdog.FROZEN
    assert time.monotonic() - began < 30


def test_a_command_without_signs_ends_by_itself(tmp_path):
    command = [sys.executable, "-c", f"import time; time.sleep({4 * SOON}); raise SystemExit(3)"]
    assert watchdog.run(command, tmp_path / "sign", SOON) == 3


def test_a_part_with_regular_signs_continues(tmp_path):
    again = f"{LIVES}\nfor _ in range(8): time.sleep({SOON / 2}); sign.touch()"
    assert watchdog.run([sys.executable, "-c", again], tmp_path / "sign", 10 * SOON) == 0


class StartingPart:
    """A process that is just starting when the watchdog gets the signal to stop."""

    def __init__(self, *_: object, **__: object) -> None:
        self.signals: list[int] = []
        os.kill(os.getpid(), signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        self.signals.append(number)

    def wait(self, _: float) -> int:
        return 5 if self.signals == [signal.SIGTERM] else 1


def test_a_stop_signal_during_the_start_reaches_the_part(monkeypatch, tmp_path):
    monkeypatch.setattr("api.watchdog.subprocess.Popen", StartingPart)

    assert watchdog.run(["part"], tmp_path / "sign") == 5


@pytest.mark.program
def test_a_stop_signal_reaches_the_part(tmp_path):
    part = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); "
    part += "print('up', flush=True); signal.pause()"
    process = subprocess.Popen(
        [sys.executable, "-m", "api.watchdog", sys.executable, "-c", part],
        env={**os.environ, "SIGN_FILE": str(tmp_path / "sign")},
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    with process.stdout as said:
        assert said.readline() == b"up\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 5


def test_the_health_check_needs_a_recent_sign_of_life(tmp_path):
    sign = tmp_path / "sign"
    assert watchdog.check(sign) == 1
    sign.touch()
    assert watchdog.check(sign) == 0
    long_ago = time.time() - watchdog.FROZEN_AFTER - 1
    os.utime(sign, (long_ago, long_ago))
    assert watchdog.check(sign) == 1


@pytest.mark.parametrize("redis", ["", "redis://127.0.0.1:1/0"])
def test_each_sign_of_life_reaches_the_watchdog_and_systemd_even_without_redis(
    redis, tmp_path, monkeypatch, settings
):
    settings.REDIS_URL = redis or settings.REDIS_URL
    signs_of_life._client.cache_clear()
    address = f"{tmp_path}/notify"
    monkeypatch.setenv("SIGN_FILE", str(tmp_path / "sign"))
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address)
        systemd.settimeout(5)
        signs_of_life.give("sftp")
        assert systemd.recv(64) == b"WATCHDOG=1"
    assert Path(tmp_path / "sign").exists()
    signs_of_life._client.cache_clear()


class Clock:
    """A clock that the test sets."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(main_loop, "time", clock)
    return clock


@pytest.fixture
def given(monkeypatch) -> list[str]:
    """Return the list to which each sign of life adds the name of its part."""
    signs: list[str] = []
    monkeypatch.setattr(signs_of_life, "give", lambda part, **_: signs.append(part))
    return signs


def test_a_main_loop_that_is_stuck_gives_no_sign_of_life(given, clock):
    loop = MainLoop()
    clock.now = main_loop.STUCK_AFTER + 1
    signs_of_life.give_if_turning("sftp", dict, loop)
    assert given == []
    loop.turned()
    signs_of_life.give_if_turning("sftp", dict, loop)
    assert given == ["sftp"]


def test_a_main_loop_that_waits_for_its_broker_still_gives_signs_of_life(given, clock):
    loop = MainLoop(excused=lambda: True)
    clock.now = main_loop.STUCK_AFTER + 1
    signs_of_life.give_if_turning("worker", dict, loop)
    assert given == ["worker"]

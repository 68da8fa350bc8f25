"""The checks of `make run` before it starts anything, and its output."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tools.launcher.demo_json import hide_keys, reveal_keys
from tools.launcher.embedded.ports import free_port, obstacle
from tools.launcher.screen import Screen

pytestmark = pytest.mark.program


@pytest.mark.parametrize("variable", ["PORT", "SFTP_PORT"])
def test_a_taken_port_is_named_with_the_variable_that_moves_it(tmp_path: Path, variable: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = {"PORT": str(free_port()), "SFTP_PORT": str(free_port()), variable: str(port)}
        done = subprocess.run(
            [sys.executable, "-m", "tools.launcher"],
            env={**os.environ, **ports, "DATA_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert done.returncode == 1
    expected = f"Port {port} on 127.0.0.1 is taken: free it, or choose another one with {variable}=…\n"
    assert done.stderr == expected
    assert not (tmp_path / "embedded").exists()


def test_web_and_sftp_cannot_have_the_same_port(tmp_path: Path) -> None:
    port = str(free_port())
    done = subprocess.run(
        [sys.executable, "-m", "tools.launcher"],
        env={
            **os.environ,
            "DATA_DIR": str(tmp_path),
            "PORT": port,
            "SFTP_PORT": port,
            "SFTP_HOST": "0.0.0.0",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    expected = f"PORT and SFTP_PORT are both {port}: choose another port for one of them.\n"
    assert (done.returncode, done.stderr) == (1, expected)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1"])
def test_a_host_that_is_not_this_machine_is_not_called_taken(host: str) -> None:
    sentence = obstacle(host, 8000, "SFTP_PORT")

    assert sentence.startswith(f"Port 8000 on {host} cannot be used: ")
    assert sentence.endswith(". Correct SFTP_HOST or SFTP_PORT.")


def test_demo_json_is_hidden_between_two_runs_but_not_lost(tmp_path: Path) -> None:
    keys = tmp_path / "demo.json"
    keys.write_text("secrets")
    hide_keys(tmp_path)
    assert not keys.exists()
    hide_keys(tmp_path)  # a second run hides the keys again, if the first run ended too early to show them
    reveal_keys(tmp_path)
    assert keys.read_text() == "secrets"


def test_each_line_is_marked_with_its_process(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(sys.stdout, coloured=False)
    screen.say("web", "one\ntwo")
    screen.say("worker", "three")
    screen.close()
    assert capsys.readouterr().out == "web       | one\nweb       | two\nworker    | three\n"


def test_a_terminal_that_does_not_read_blocks_no_process() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream:
        screen = Screen(stream, coloured=False)
        for _ in range(30_000):  # a pipe takes some 64 KiB, then a writer blocks
            screen.say("web", "x" * 100)
        os.close(read)  # without a reader, the blocked write fails
        screen.close()

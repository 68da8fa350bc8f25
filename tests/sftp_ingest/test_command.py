"""`manage.py sftp_server` as a process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_NOFILE, setrlimit
from typing import Any

import pytest
from django.conf import settings as django_settings

pytestmark = pytest.mark.program

MANAGE = Path(django_settings.BASE_DIR) / "manage.py"


@contextmanager
def process(
    tmp_path: Path, port: int, preexec_fn: Any = None, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "SFTP_PORT": str(port), **variables}
    environment["SFTP_HOST"] = "127.0.0.1"
    with subprocess.Popen(
        [sys.executable, MANAGE, "sftp_server"],
        env=environment,
        preexec_fn=preexec_fn,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_logs_its_address_and_ends_on_a_signal(tmp_path: Path, number: signal.Signals):
    with process(tmp_path, 0) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        port = int(line.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            assert client.recv(100).startswith(b"SSH-2.0-Exchange")
            server.send_signal(number)
            _, said = server.communicate(timeout=20)

    assert line.startswith("SFTP listens on 127.0.0.1:")
    assert server.returncode == 0
    assert "Traceback" not in said


def test_the_server_raises_its_limit_of_open_files_to_serve_many_clients(tmp_path: Path):
    with process(tmp_path, 0, preexec_fn=lambda: setrlimit(RLIMIT_NOFILE, (64, 4096))) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rpartition(":")[2])
        said = Path(f"/proc/{server.pid}/limits").read_text()
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            assert client.recv(100).startswith(b"SSH-2.0-Exchange")

    files = next(line for line in said.splitlines() if line.startswith("Max open files"))
    assert files.split()[3:5] == ["4096", "4096"]


def test_a_taken_port_is_a_clear_message(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with process(tmp_path, port) as server:
            _, said = server.communicate(timeout=20)

    assert server.returncode == 1
    assert (
        f"SFTP cannot listen on 127.0.0.1:{port} (Address already in use): correct SFTP_HOST or SFTP_PORT."
        in said
    )
    assert "Traceback" not in said


@pytest.mark.parametrize("url", ["s4://uploads", "s3:///prefix", "s3://a:b@uploads?endpoint=localhost:9000"])
def test_storage_that_cannot_be_used_is_a_clear_message(tmp_path: Path, url: str):
    with process(tmp_path, 0, UPLOADS_URL=url) as server:
        _, said = server.communicate(timeout=60)

    assert server.returncode == 1
    assert "The storage of uploads does not work (UPLOADS_URL): " in said
    assert "Traceback" not in said


def test_a_server_whose_bucket_is_away_at_its_start_says_so_and_serves(tmp_path: Path):
    url = "s3://a:b@uploads?endpoint=http://127.0.0.1:1&region=us-east-1"
    with process(tmp_path, 0, UPLOADS_URL=url) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        port = int(server.stdout.readline().rpartition(":")[2])
        said = next(line for line in server.stderr if "storage of uploads" in line)
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            assert client.recv(100).startswith(b"SSH-2.0-Exchange")

    assert "ERROR" in said
    assert "the storage of uploads does not answer (UPLOADS_URL): Could not connect" in said

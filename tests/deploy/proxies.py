"""The proxies of deploy/, on free ports and in front of the tests' own hosts."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tools.launcher.embedded.ports import free_port

START_TIMEOUT = 20.0
WHERE = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin"


def needs(program: str) -> str:
    """Return the path of a program, or skip the test."""
    found = shutil.which(program, path=WHERE)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


@contextmanager
def proxy(program: str, folder: Path, one: str, two: str, **changes: str) -> Iterator[int]:
    """Run a proxy in front of two hosts, and yield its port. Caddy gets only the first host.

    `changes` replaces words of the proxy's configuration.
    """
    port = free_port()
    start = {"nginx": _nginx, "haproxy": _haproxy, "caddy": _caddy}[program]
    command, environment = start(needs(program), folder, port, one, two, changes)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _nginx(
    program: str, folder: Path, port: int, one: str, two: str, changes: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    text = (ROOT / "deploy/nginx.conf").read_text()
    ours = {"127.0.0.1:8001": one, "127.0.0.1:8002": two, "listen 8080": f"listen 127.0.0.1:{port}"}
    temporary = "".join(
        f"    {name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    ours["http {\n"] = f"http {{\n    access_log off;\n{temporary}"
    path = _written(folder / "nginx.conf", text, {**ours, **changes})
    directives = f"daemon off; pid {folder}/nginx.pid;"
    return [program, "-p", str(folder), "-e", f"{folder}/log", "-c", str(path), "-g", directives], {}


def _haproxy(
    program: str, folder: Path, port: int, one: str, two: str, changes: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    path = _written(folder / "haproxy.cfg", (ROOT / "deploy/haproxy.cfg").read_text(), changes)
    addresses = {"EXCHANGE_BIND": f"127.0.0.1:{port}", "EXCHANGE_ONE": one, "EXCHANGE_TWO": two}
    return [program, "-db", "-f", str(path)], {**addresses, "EXCHANGE_HOST": "127.0.0.1"}


def _caddy(
    program: str, folder: Path, port: int, one: str, two: str, changes: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    path = _written(folder / "Caddyfile", (ROOT / "deploy/Caddyfile").read_text(), changes)
    # Switch off `admin`, because another program may use its port. Bind only to 127.0.0.1, because a
    # connection of another test may have this port on another address.
    own = "{\n\tadmin off\n\tdefault_bind 127.0.0.1\n"
    path.write_text(path.read_text().replace("{\n", own, 1))
    address = {"EXCHANGE_HOST": f"http://127.0.0.1:{port}", "EXCHANGE_WEB": one, "HOME": str(folder)}
    return [program, "run", "--adapter", "caddyfile", "--config", str(path)], address


def _written(path: Path, text: str, changes: dict[str, str]) -> Path:
    for word, other in changes.items():
        assert word in text, word
        text = text.replace(word, other)
    path.write_text(text)
    return path


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("the proxy does not start")

"""Five hundred logins that have a channel and do nothing: what they cost, also an upload beside them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import paramiko

from tools.bench.measuring import bare, ratio, resident_mib
from tools.bench.uploads.servers import Target, add_login, cpu_seconds, put

SUPPLIERS, OF_EACH = 20, 25
IDLE_SECONDS = 10.0
ROUNDS = 5
WAKE_INTERVAL = 5.0  # seconds; else a client's thread looks ten times in one whether it has anything to do


def beside_idle_logins(home: Path, exchange: Target) -> None:
    """All from one address, as those of an office."""
    pid = exchange.process.pid
    mib_before = resident_mib(pid)
    with _logged_in(home, exchange) as seconds:
        mib = resident_mib(pid) - mib_before
        before = cpu_seconds(pid)
        time.sleep(IDLE_SECONDS)  # what is measured is what it costs that nobody does anything
        used = cpu_seconds(pid) - before
        beside = _upload(home, exchange)
    alone = _upload(home, exchange)
    logins = SUPPLIERS * OF_EACH
    print(f"  {f'{logins} logins that do nothing, from one address, in {seconds:.1f} s':<66}", flush=True)
    bare("memory of the server for each, KiB", mib * 1024, logins)
    ratio("CPU of the server with them, of a core", used, IDLE_SECONDS, 0.05)
    ratio("an upload beside them, beside one alone, medians", beside, alone, 1.2)


def _upload(home: Path, exchange: Target) -> float:
    return median(put(home, exchange, "larger", "beside.bin") for _ in range(ROUNDS))


@contextmanager
def _logged_in(home: Path, exchange: Target) -> Iterator[float]:
    """All of them, and the seconds that their logging in took."""
    key = paramiko.Ed25519Key.from_private_key_file(str(home / "key"))
    names = [f"supplier-{number}" for number in range(SUPPLIERS)]
    for name in names:
        add_login(home, name)

    def log_in(name: str) -> paramiko.Transport:
        transport = paramiko.Transport(("127.0.0.1", exchange.port))
        stack.callback(transport.close)
        transport.start_client(timeout=30)
        transport.auth_publickey(name, key)
        client = paramiko.SFTPClient.from_transport(transport)
        assert client is not None
        client.listdir("products")
        transport.sock.settimeout(WAKE_INTERVAL)
        return transport

    with ExitStack() as stack:
        began = time.perf_counter()
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(log_in, names * OF_EACH))
        yield time.perf_counter() - began
        ended = sum(not transport.is_active() for transport in found)
        if ended:
            raise SystemExit(f"{ended} of the {len(found)} idle logins were ended.")

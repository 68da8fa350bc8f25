"""Five hundred idle logins with an open channel: their cost, and the time of an upload beside them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import paramiko

from tools.bench.measuring import bare, ratio, resident_mib
from tools.bench.sizes import size
from tools.bench.uploads.servers import UploadTarget, add_login, cpu_seconds, put

SUPPLIERS, OF_EACH = size(20, smoke=2), size(25, smoke=2)
IDLE_SECONDS = size(10.0, smoke=0.5)
ROUNDS = size(5, smoke=1)
WAKE_INTERVAL = 5.0  # seconds; by default a client's thread wakes ten times per second


def beside_idle_logins(home: Path, exchange: UploadTarget) -> None:
    """Measure an upload beside idle logins from one address, like the logins of one office."""
    pid = exchange.process.pid
    mib_before = resident_mib(pid)
    with _logged_in(home, exchange) as seconds:
        mib = resident_mib(pid) - mib_before
        before = cpu_seconds(pid)
        time.sleep(IDLE_SECONDS)  # the measure is the cost of idle logins
        used = cpu_seconds(pid) - before
        beside = _upload(home, exchange)
    alone = _upload(home, exchange)
    logins = SUPPLIERS * OF_EACH
    print(f"  {f'{logins} idle logins from one address, in {seconds:.1f} s':<66}", flush=True)
    bare("memory of the server per login, KiB", mib * 1024, logins)
    ratio("CPU of the server with them, of a core", used, IDLE_SECONDS, 0.05)
    ratio("an upload beside them / an upload alone, medians", beside, alone, 1.2)


def _upload(home: Path, exchange: UploadTarget) -> float:
    return median(put(home, exchange, "larger", "beside.bin") for _ in range(ROUNDS))


@contextmanager
def _logged_in(home: Path, exchange: UploadTarget) -> Iterator[float]:
    """Open all logins and yield the seconds that this took."""
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
            transports = list(pool.map(log_in, names * OF_EACH))
        yield time.perf_counter() - began
        ended = sum(not transport.is_active() for transport in transports)
        if ended:
            raise SystemExit(f"The server ended {ended} of {len(transports)} idle logins.")

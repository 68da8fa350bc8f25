"""Five hundred idle logins with an open channel: their cost, and the time of an upload beside them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import paramiko

from tools.bench.measuring import at_most, cpu_seconds, resident_mib, show
from tools.bench.sizes import size
from tools.bench.uploads.servers import UploadTarget, add_login, put

SUPPLIERS, OF_EACH = size(20, smoke=2), size(25, smoke=2)
IDLE_SECONDS = size(10.0, smoke=0.5)
ROUNDS = size(5, smoke=1)
WAKE_INTERVAL = 5.0  # seconds; ten wake-ups per second, the default, would cost the clients too much CPU time


def beside_idle_logins(home: Path, exchange: UploadTarget) -> None:
    """Measure an upload beside idle logins from one address, like the logins of one office."""
    pid, logins = exchange.process.pid, SUPPLIERS * OF_EACH
    mib_before = resident_mib(pid)
    with _logged_in(home, exchange):
        mib = resident_mib(pid) - mib_before
        before = cpu_seconds(pid)
        time.sleep(IDLE_SECONDS)  # measure the CPU time that idle logins use in these seconds
        used = cpu_seconds(pid) - before
        beside = median(put(home, exchange) for _ in range(ROUNDS))
    alone = median(put(home, exchange) for _ in range(ROUNDS))
    show(f"memory of the server for each of {logins} idle logins, KiB", mib * 1024 / logins)
    at_most("CPU of the server with them, of a core", used / IDLE_SECONDS, 0.05)
    at_most("an upload beside them / an upload alone, medians", beside / alone, 1.2)


@contextmanager
def _logged_in(home: Path, exchange: UploadTarget) -> Iterator[None]:
    """Open all logins; at the end, check that the server has kept them."""
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
        with ThreadPoolExecutor(4) as pool:
            transports = list(pool.map(log_in, names * OF_EACH))
        yield
        ended = sum(not transport.is_active() for transport in transports)
        if ended:
            raise SystemExit(f"The server ended {ended} of {len(transports)} idle logins.")

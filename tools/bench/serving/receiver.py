"""A fast receiver of webhooks in its own process."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"


class Quick(asyncio.Protocol):
    """Answers 204 to each request without reading its content."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._received = transport, b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self._received[:end])
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._received) < whole:
                return
            self._received = self._received[whole:]
            self._transport.write(TAKEN)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Quick, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def receiver() -> Iterator[str]:
    """Run the receiver and yield its URL."""
    process = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/hooks"
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    asyncio.run(serve())

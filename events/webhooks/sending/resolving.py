"""The lookup of a host's allowed addresses, for each new connection.

The connection goes to the checked address, so a change of the DNS entry between check and connect has no
effect.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

from events.webhooks.addresses import REFUSAL, Address, is_allowed, is_listed, parse_address
from events.webhooks.targets import WebhookTarget

THREADS = 64


class NotCallable(Exception):
    """The error for a host without an allowed address."""

    def __init__(self) -> None:
        super().__init__(REFUSAL)


class Resolver:
    """A resolver that runs the system's lookups in threads, with at most one lookup for each name."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="resolver")
        self._lookups: dict[str, asyncio.Future[list[Address]]] = {}

    async def addresses(self, target: WebhookTarget) -> list[Address]:
        """Return the allowed addresses of a target. Raises NotCallable."""
        literal = parse_address(target.host)
        addresses = [literal] if literal else await self._look_up(target.host)
        check = is_allowed if target.scheme == "https" else is_listed
        allowed = [address for address in addresses if check(address)]
        if not allowed:
            raise NotCallable
        return allowed

    async def _look_up(self, host: str) -> list[Address]:
        lookup = self._lookups.get(host)
        if lookup is None:
            running = asyncio.get_running_loop().run_in_executor(self._threads, look_up, host)
            lookup = self._lookups[host] = asyncio.ensure_future(running)
            lookup.add_done_callback(lambda _: self._lookups.pop(host, None))
        return await asyncio.shield(lookup)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def look_up(host: str) -> list[Address]:
    """Return the addresses of a host name. Raises NotCallable."""
    try:
        infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotCallable from error
    addresses = (parse_address(str(info[4][0])) for info in infos)
    return list(dict.fromkeys(address for address in addresses if address is not None))

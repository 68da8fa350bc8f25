"""From a host's name to the addresses that may be called: looked at for each connection, and connected to.

So a name that leads elsewhere a moment later changes nothing: what was checked is what is called.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

from events.webhooks.addresses import Address, is_allowed, is_listed, parse_address
from events.webhooks.targets import Target

THREADS = 64


class NotCallable(Exception):
    """There is no address that may be called; the message says so to the partner."""


class Resolver:
    """Asks the system's resolver, in threads: one for each name at a time, however slow its servers are."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="resolver")
        self._asked: dict[str, asyncio.Future[list[Address]]] = {}

    async def addresses(self, target: Target) -> list[Address]:
        """The addresses of a target that may be called. Raises NotCallable."""
        literal = parse_address(target.host)
        found = [literal] if literal else await self._ask(target.host)
        check = is_allowed if target.scheme == "https" else is_listed
        allowed = [each for each in found if check(each)]
        if not allowed:
            raise NotCallable(f"{target.host} leads to {found[0]}, which is no public address.")
        return allowed

    async def _ask(self, host: str) -> list[Address]:
        asked = self._asked.get(host)
        if asked is None:
            running = asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host)
            asked = self._asked[host] = asyncio.ensure_future(running)
            asked.add_done_callback(lambda _: self._asked.pop(host, None))
        return await asyncio.shield(asked)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotCallable(f"{host} has no address: {error}.") from error
    addresses = (parse_address(str(each[4][0])) for each in found)
    return list(dict.fromkeys(each for each in addresses if each is not None))

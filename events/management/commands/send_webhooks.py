"""`manage.py send_webhooks`: send deliveries to webhooks until SIGTERM."""

from __future__ import annotations

import asyncio
import resource
import signal
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand

from api import signs_of_life
from api.main_loop import MainLoop
from events.webhooks.sending.process import SendingProcess


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # this process serves no URLs
    help = "Sends events to the webhooks of suppliers and retailers. Any number of these may run."

    def handle(self, *args: Any, **options: Any) -> None:
        _allow_many_connections()
        asyncio.run(_send())


async def _send() -> None:
    process = SendingProcess()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, process.stop)
    main_loop = MainLoop()
    _show_turns(main_loop, asyncio.get_running_loop())
    signs_of_life.keep_giving("webhooks", lambda: {"held": process.held}, main_loop=main_loop)
    await process.run()


def _show_turns(main_loop: MainLoop, loop: asyncio.AbstractEventLoop) -> None:
    """Show every few seconds that the loop turns. The sender itself may wait for a database that is away."""
    main_loop.turned()
    loop.call_later(signs_of_life.EVERY, _show_turns, main_loop, loop)


def _allow_many_connections() -> None:
    """Raise the limit of open files: each receiver needs its own connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

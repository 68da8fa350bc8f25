"""`manage.py send_webhooks`: send deliveries to webhooks until SIGTERM."""

from __future__ import annotations

import asyncio
import resource
import signal
from contextlib import suppress

from django.core.management.base import BaseCommand

from api import signs_of_life
from api.main_loop import MainLoop
from events.webhooks.sending.process import SendingProcess


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # this process serves no URLs
    help = "Send events to the webhooks of suppliers and retailers. Several processes may run at once."

    def handle(self, *args: object, **options: object) -> None:
        sender = WebhookSender()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sender.stop())
        asyncio.run(sender.run())


class WebhookSender:
    """The part `webhooks`: a sending process with its sign of life."""

    def __init__(self) -> None:
        _allow_many_connections()
        self._process = SendingProcess()
        self._main_loop = MainLoop()

    async def run(self) -> None:
        """Send until `stop` is called."""
        self._show_turns(asyncio.get_running_loop())
        held = lambda: {"held": self._process.held}  # noqa: E731
        signs_of_life.keep_giving("webhooks", held, main_loop=self._main_loop)
        await self._process.run()

    def stop(self) -> None:
        """End `run`. Signal handlers and other threads may call this."""
        self._process.stop_from_elsewhere()

    def _show_turns(self, loop: asyncio.AbstractEventLoop) -> None:
        """Record every few seconds that the event loop runs, even while the sender waits for the database."""
        self._main_loop.turned()
        loop.call_later(signs_of_life.EVERY, self._show_turns, loop)


def _allow_many_connections() -> None:
    """Raise the limit of open files, because each receiver needs its own connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

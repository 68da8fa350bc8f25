"""The loop of a sender: it reads due deliveries, sends them, and saves the results.

In each turn of the loop, one separate thread uses the database. While the thread works, the event loop sends
many requests to receivers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, TypeVar

from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from accounts.scopes import Role
from events.models import Event, Webhook
from events.waking import WakeListener
from events.webhooks.relay import MOST_EVENTS, relay
from events.webhooks.sending.due import read_due, seconds_until_due
from events.webhooks.sending.http_client import HttpClient, ReceiverAnswer
from events.webhooks.sending.receivers import Destination, Due, Receiver
from events.webhooks.sending.requests import body_of, headers_of
from events.webhooks.sending.results import DeliveryResult, bring_forward, park, result_of, write_down
from events.webhooks.sending.shares import SenderShare
from events.webhooks.signing import key_of
from events.webhooks.targets import WrongWebhookUrl, parse_url

logger = logging.getLogger(__name__)
T = TypeVar("T")

POLL_SECONDS = 0.2  # the time between two reads of the database while there is work
IDLE_SECONDS = 2.5  # the time between two reads without work, if nothing wakes the process
# After the last work, the process reads often for this time, which must be longer than `waking.AGAIN_AFTER`.
LINGER_SECONDS = 1.5
GATHER_SECONDS = 0.02  # a result waits this long for further results, and all are saved together
AFTER_FAILURE = 2.0  # seconds until the next try after a failure of the database
STOP_SECONDS = 8.0  # the longest wait for open requests when the process stops
MOST_OPEN = 1_000  # the most open requests of one process


class InMemory(NamedTuple):
    """The deliveries in memory: free slots by webhook, held deliveries, and the webhooks with deliveries."""

    rooms: dict[int, int]
    held: list[int]
    busy: list[int]


Webhooks = dict[int, tuple[Role, Destination | None]]
"""Active webhooks by id, with the reader's role and the destination (None if URL or secret is unusable)."""


class TurnResult(NamedTuple):
    """The data that one turn has read from the database."""

    due: list[Due]
    bodies: dict[tuple[int, Role], bytes]
    webhooks: Webhooks
    to_bring_forward: set[int]
    has_more: bool
    """Whether the relay has more events to process."""
    in_time: bool
    """Whether the lease was renewed in time. If not, another process may have sent the held deliveries."""
    next_due: float
    """Seconds until the next delivery is due, or 0 if a delivery is due now."""


class SendingProcess:
    """A sender, which sends the deliveries of its share of the webhooks until it is stopped."""

    def __init__(self) -> None:
        self._share, self._client = SenderShare(), HttpClient()
        self._database = ThreadPoolExecutor(1, thread_name_prefix="database")
        self._receivers: dict[int, Receiver] = {}
        self._results: list[DeliveryResult] = []
        self._recovered: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._stopped = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._busy_until = self._next_due_at = 0.0
        self._listener = WakeListener(self._hear_wake)

    @property
    def held(self) -> int:
        """Return the number of deliveries in memory, for monitoring."""
        return sum(len(receiver.held) for receiver in [*self._receivers.values()])

    def stop(self) -> None:
        """Start no more requests, and let the open requests end."""
        self._stopped.set()
        self._wake.set()

    def stop_from_elsewhere(self) -> None:
        """Call `stop` from another thread, or before `run`."""
        if self._loop is None:
            self.stop()
        else:
            self._loop.call_soon_threadsafe(self.stop)

    def _hear_wake(self) -> None:
        """Tell the event loop to read the database now, and then often for LINGER_SECONDS.

        The listener's thread calls this method.
        """
        assert self._loop is not None  # `run` has started the listener
        with suppress(RuntimeError):  # the loop may have ended
            self._loop.call_soon_threadsafe(self._look_now)

    def _look_now(self) -> None:
        self._stay_busy()
        self._wake.set()

    def _stay_busy(self) -> None:
        self._busy_until = time.monotonic() + LINGER_SECONDS

    async def run(self) -> None:
        """Send until `stop` is called."""
        self._loop = asyncio.get_running_loop()
        self._listener.start()
        try:
            while not self._stopped.is_set():
                if not await self._turn():
                    await self._rest()
                self._client.drop_rested()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
            await self._with_database(self._leave, self._results, self._recovered)
        finally:
            self._listener.stop()
            self._client.close()
            self._database.shutdown()

    async def _rest(self) -> None:
        """Wait for a result, for a wake, or for the time of the next read."""
        if not self._results:
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), self._until_next_look())
            except TimeoutError:
                return
        await self._pause(GATHER_SECONDS)

    def _until_next_look(self) -> float:
        """Return the seconds until the next read: POLL_SECONDS during work, otherwise up to IDLE_SECONDS."""
        now = time.monotonic()
        if self._recovered or now < self._busy_until:
            return POLL_SECONDS
        next_at = min([self._next_due_at, *(receiver.resumes_at for receiver in self._receivers.values())])
        return min(max(next_at - now, POLL_SECONDS), IDLE_SECONDS)

    async def _pause(self, seconds: float) -> None:
        """Wait for some seconds, or until `stop`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    # --- Database ---------------------------------------------------------------------------------

    async def _turn(self) -> bool:
        """Save results and read due deliveries. Return whether more work is waiting.

        If the database fails, a later turn saves the results.
        """
        results, self._results = self._results, []
        recovered, self._recovered = self._recovered, set()
        try:
            read = await self._with_database(self._exchange, results, recovered, self._in_memory())
        except (OperationalError, InterfaceError) as error:
            logger.warning("the database did not answer: %s", error)
            self._results, self._recovered = results + self._results, recovered | self._recovered
            await self._pause(AFTER_FAILURE)
            return False
        self._recovered |= read.to_bring_forward
        self._accept(read)
        return read.has_more

    async def _with_database(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database, work, *arguments)

    def _in_memory(self) -> InMemory:
        receivers = self._receivers.values()
        return InMemory(
            {receiver.webhook_id: receiver.room for receiver in receivers},
            [delivery for receiver in receivers for delivery in receiver.held],
            [receiver.webhook_id for receiver in receivers if receiver.held],
        )

    def _exchange(
        self, results: Sequence[DeliveryResult], recovered: set[int], memory: InMemory
    ) -> TurnResult:
        try:
            # Change the caller's set: if a later step fails, the next turn repeats this step.
            recovered |= write_down(results)
            in_time = self._share.renew(memory.busy)
            to_bring_forward = bring_forward(recovered)
            has_more = relay() == MOST_EVENTS
            due = read_due(self._share.sender_id, memory.rooms, memory.held)
            webhooks = _webhooks({*memory.rooms, *(delivery.webhook_id for delivery in due)})
            due = [delivery for delivery in due if delivery.webhook_id in webhooks]
            next_due = 0.0 if due else seconds_until_due(self._share.sender_id, memory.rooms, memory.held)
            bodies = _bodies(due, webhooks)
            return TurnResult(due, bodies, webhooks, to_bring_forward, has_more, in_time, next_due)
        except (OperationalError, InterfaceError):
            connections.close_all()
            raise

    def _leave(self, results: Sequence[DeliveryResult], recovered: set[int]) -> None:
        recovered |= write_down(results)
        while recovered:
            recovered = bring_forward(recovered)
        self._share.leave()
        connections.close_all()

    def _accept(self, read: TurnResult) -> None:
        """Keep the deliveries in `read` whose webhooks belong to this sender, and start to send them.

        Forget deliveries of webhooks that now belong to another sender.
        """
        self._next_due_at = time.monotonic() + read.next_due
        if read.due:
            self._stay_busy()
        for webhook_id, receiver in [*self._receivers.items()]:
            if not (read.in_time and webhook_id in read.webhooks and self._share.is_mine(webhook_id)):
                receiver.forget()
            else:
                _, receiver.destination = read.webhooks[webhook_id]  # the URL or the secret may have changed
            if receiver.is_idle():
                del self._receivers[webhook_id]
        parked = []
        # The events that receivers accepted after the read began, by webhook.
        taken: defaultdict[int, set[int]] = defaultdict(set)
        for result in self._results:
            if result.answer.taken:
                taken[result.due.webhook_id].add(result.due.event_id)
        for due in read.due:
            if not self._share.is_mine(due.webhook_id):
                continue
            role, destination = read.webhooks[due.webhook_id]
            receiver = self._receivers.setdefault(due.webhook_id, Receiver(due.webhook_id))
            receiver.destination = destination
            if not receiver.hold(due, read.bodies[due.event_id, role], taken[due.webhook_id]):
                parked.append(due.id)
        if parked:
            self._database.submit(park, parked)
        for receiver in self._receivers.values():
            self._start(receiver)

    # --- Receivers --------------------------------------------------------------------------------

    def _start(self, receiver: Receiver) -> None:
        """Send as many deliveries as this receiver may get now."""
        while not self._stopped.is_set() and len(self._tasks) < MOST_OPEN and self._share.is_alive():
            due = receiver.take()
            if due is None:
                return
            task = asyncio.create_task(self._send(receiver, due))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, receiver: Receiver, due: Due) -> None:
        answer = await self._post(receiver.destination, due, receiver.held[due.id])
        was_down = receiver.is_down
        receiver.answered(due, answer)
        if was_down and not receiver.is_down:
            self._recovered.add(receiver.webhook_id)
            logger.info("webhook %s: its receiver answers again", receiver.webhook_id)
        if receiver.is_down and not was_down:
            logger.info("webhook %s: its receiver accepts nothing: %s", receiver.webhook_id, answer.error)
        self._results.append(result_of(due, answer))
        self._wake.set()
        self._start(receiver)

    async def _post(self, destination: Destination | None, due: Due, body: bytes) -> ReceiverAnswer:
        if destination is None:
            return ReceiverAnswer(None, "The URL or the secret cannot be used.")
        try:
            return await self._client.post(
                destination.target, headers_of(due.event_id, body, destination.keys), body
            )
        except Exception:  # a bug with one delivery must not stop the others
            logger.exception("delivery %s could not be sent", due.id)
            return ReceiverAnswer(None, "The service failed to send it.")


def _webhooks(wanted: Iterable[int]) -> Webhooks:
    webhooks = Webhook.objects.present().filter(pk__in=set(wanted), active=True)
    return {webhook.pk: (webhook.role, _destination(webhook)) for webhook in webhooks}


def _bodies(due: Sequence[Due], webhooks: Webhooks) -> dict[tuple[int, Role], bytes]:
    numbers = {delivery.event_id for delivery in due}
    events = {event.number: event for event in Event.objects.filter(number__in=numbers)}
    pairs = {(delivery.event_id, webhooks[delivery.webhook_id][0]) for delivery in due}
    return {(number, role): body_of(events[number], role) for number, role in pairs}


def _destination(webhook: Webhook) -> Destination | None:
    try:
        keys = tuple(key_of(secret) for secret in webhook.read_secrets(at=timezone.now()))
        return Destination(parse_url(webhook.url), keys)
    except WrongWebhookUrl:
        return None  # WEBHOOK_NETWORKS has changed and no longer allows this URL
    except ValueError as error:
        logger.error("webhook %s: %s", webhook.pk, error)  # noqa: TRY400 - the message says what to do
        return None

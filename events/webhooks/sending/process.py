"""The loop of a process that sends: read what is due, send it, write down how it went.

One thread speaks to the database, a turn at a time; requests to receivers are open at once in the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, TypeVar

from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from accounts.scopes import Role
from events.models import Event, Webhook
from events.webhooks.relay import MOST_EVENTS, relay
from events.webhooks.sending.due import read_due
from events.webhooks.sending.http_client import Answer, HttpClient
from events.webhooks.sending.outcomes import Outcome, bring_forward, outcome_of, park, write_down
from events.webhooks.sending.receivers import Due, Receiver, Way
from events.webhooks.sending.requests import body_of, headers_of
from events.webhooks.sending.shares import Share
from events.webhooks.signing import key_of
from events.webhooks.targets import WrongUrl, parse_url

logger = logging.getLogger(__name__)
T = TypeVar("T")

POLL_SECONDS = 0.2
GATHER_SECONDS = 0.02  # from the first outcome until they are written down
AFTER_FAILURE = 2.0  # seconds until the database is asked again
STOP_SECONDS = 8.0  # for what is open when it is to stop
MOST_OPEN = 1_000  # requests of one process


class InMemory(NamedTuple):
    """What the process has already: room and busy ones by webhook, and the deliveries that it holds."""

    rooms: dict[int, int]
    held: list[int]
    busy: list[int]


Webhooks = dict[int, tuple[Role, Way | None]]
"""Those that may be sent to, with who reads there; without a way where there is something wrong with it."""


class Read(NamedTuple):
    """What a turn with the database brought."""

    due: list[Due]
    bodies: dict[tuple[int, Role], bytes]
    webhooks: Webhooks
    to_bring_forward: set[int]
    has_more: bool
    """Whether there are events that the relay has not come to yet."""
    in_time: bool
    """Whether what this process holds is still its own to send."""


class SendingProcess:
    """Sends the deliveries of its share of the webhooks until it is stopped."""

    def __init__(self) -> None:
        self._share, self._client = Share(), HttpClient()
        self._database = ThreadPoolExecutor(1, thread_name_prefix="database")
        self._receivers: dict[int, Receiver] = {}
        self._outcomes: list[Outcome] = []
        self._recovered: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._stopped = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def held(self) -> int:
        """How many deliveries it has read and not brought to an end; for whoever looks on."""
        return sum(len(each.held) for each in [*self._receivers.values()])

    def stop(self) -> None:
        """Begin nothing more; what is open comes to its end."""
        self._stopped.set()
        self._wake.set()

    def stop_from_elsewhere(self) -> None:
        """The same, from another thread."""
        assert self._loop is not None  # it runs
        self._loop.call_soon_threadsafe(self.stop)

    async def run(self) -> None:
        """Send until `stop` is called."""
        self._loop = asyncio.get_running_loop()
        try:
            while not self._stopped.is_set():
                if not await self._turn():
                    await self._rest()
                self._client.drop_rested()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
            await self._with_database(self._leave, self._outcomes)
        finally:
            self._client.close()
            self._database.shutdown()

    async def _rest(self) -> None:
        """Until something has come to its end, or for a moment."""
        if not self._outcomes:
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), POLL_SECONDS)
            except TimeoutError:
                return
        await self._pause(GATHER_SECONDS)

    async def _pause(self, seconds: float) -> None:
        """Until it is to stop, or for so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    # --- With the database -----------------------------------------------------------------------

    async def _turn(self) -> bool:
        """Write down what has ended, and read what is due; whether there is more at once.

        What fails is done again at the next turn.
        """
        outcomes, self._outcomes = self._outcomes, []
        recovered, self._recovered = self._recovered, set()
        try:
            read = await self._with_database(self._exchange, outcomes, recovered, self._in_memory())
        except (OperationalError, InterfaceError) as error:
            logger.warning("the database did not answer: %s", error)
            self._outcomes, self._recovered = outcomes + self._outcomes, recovered | self._recovered
            await self._pause(AFTER_FAILURE)
            return False
        self._recovered |= read.to_bring_forward
        self._accept(read)
        return read.has_more

    async def _with_database(self, work: Callable[..., T], *given: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database, work, *given)

    def _in_memory(self) -> InMemory:
        receivers = self._receivers.values()
        return InMemory(
            {each.webhook_id: each.room for each in receivers},
            [delivery for each in receivers for delivery in each.held],
            [each.webhook_id for each in receivers if each.held],
        )

    def _exchange(self, outcomes: Sequence[Outcome], recovered: set[int], memory: InMemory) -> Read:
        try:
            write_down(outcomes)
            in_time = self._share.renew(memory.busy)
            to_bring_forward = bring_forward(recovered)
            has_more = relay() == MOST_EVENTS
            due = read_due(self._share.sender_id, memory.rooms, memory.held)
            webhooks = _webhooks({*memory.rooms, *(each.webhook_id for each in due)})
            due = [each for each in due if each.webhook_id in webhooks]
            return Read(due, _bodies(due, webhooks), webhooks, to_bring_forward, has_more, in_time)
        except (OperationalError, InterfaceError):
            connections.close_all()
            raise

    def _leave(self, outcomes: Sequence[Outcome]) -> None:
        write_down(outcomes)
        self._share.leave()
        connections.close_all()

    def _accept(self, read: Read) -> None:
        """Keep what was read, let go of what is not to be sent any more, and send."""
        for webhook_id, receiver in [*self._receivers.items()]:
            if not (read.in_time and webhook_id in read.webhooks and self._share.is_mine(webhook_id)):
                receiver.forget()
            if receiver.is_idle():
                del self._receivers[webhook_id]
        parked = []
        taken: defaultdict[int, set[int]] = defaultdict(set)  # since these were read
        for each in self._outcomes:
            if each.answer.taken:
                taken[each.due.webhook_id].add(each.due.event_id)
        for due in read.due:
            if not self._share.is_mine(due.webhook_id):
                continue
            role, way = read.webhooks[due.webhook_id]
            receiver = self._receivers.setdefault(due.webhook_id, Receiver(due.webhook_id))
            receiver.way = way
            if not receiver.hold(due, read.bodies[due.event_id, role], taken[due.webhook_id]):
                parked.append(due.id)
        if parked:
            self._database.submit(park, parked)
        for receiver in self._receivers.values():
            self._start(receiver)

    # --- With receivers --------------------------------------------------------------------------

    def _start(self, receiver: Receiver) -> None:
        """Send as much as this receiver may get now."""
        while not self._stopped.is_set() and len(self._tasks) < MOST_OPEN and self._share.is_alive():
            due = receiver.take()
            if due is None:
                return
            task = asyncio.create_task(self._send(receiver, due))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, receiver: Receiver, due: Due) -> None:
        answer = await self._ask(receiver.way, due, receiver.held[due.id])
        was_down = receiver.is_down
        receiver.answered(due, answer)
        if was_down and not receiver.is_down:
            self._recovered.add(receiver.webhook_id)
            logger.info("webhook %s: its receiver answers again", receiver.webhook_id)
        if receiver.is_down and not was_down:
            logger.warning("webhook %s: its receiver takes nothing: %s", receiver.webhook_id, answer.error)
        self._outcomes.append(outcome_of(due, answer))
        self._wake.set()
        self._start(receiver)

    async def _ask(self, way: Way | None, due: Due, body: bytes) -> Answer:
        if way is None:
            return Answer(None, "Its URL or its secret cannot be used.")
        try:
            return await self._client.post(way.target, headers_of(due.event_id, body, way.keys), body)
        except Exception:  # one delivery's trouble is not the others'
            logger.exception("delivery %s could not be sent", due.id)
            return Answer(None, "It could not be sent, for a reason of our own.")


def _webhooks(wanted: Iterable[int]) -> Webhooks:
    found = Webhook.objects.present().filter(pk__in=set(wanted), active=True)
    return {each.pk: (each.role, _way(each)) for each in found}


def _bodies(due: Sequence[Due], webhooks: Webhooks) -> dict[tuple[int, Role], bytes]:
    events = {each.number: each for each in Event.objects.filter(number__in={each.event_id for each in due})}
    pairs = {(each.event_id, webhooks[each.webhook_id][0]) for each in due}
    return {(number, role): body_of(events[number], role) for number, role in pairs}


def _way(webhook: Webhook) -> Way | None:
    try:
        keys = tuple(key_of(each) for each in webhook.read_secrets(at=timezone.now()))
        return Way(parse_url(webhook.url), keys)
    except WrongUrl:
        return None  # its network is not allowed any more
    except ValueError as error:
        logger.error("webhook %s: %s", webhook.pk, error)  # noqa: TRY400 - what is to be done stands in it
        return None

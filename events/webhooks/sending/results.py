"""Statements that save the results of many deliveries at once."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import connection, transaction

from events.states import ARRIVE, GIVE_UP, TRY_AGAIN, DeliveryMove, delay_after
from events.webhooks.sending.http_client import ReceiverAnswer
from events.webhooks.sending.receivers import Due

MOST_BROUGHT_FORWARD = 2_000

# Skip a delivery that was replayed after its request began: the answer belongs to the earlier request, and
# the replay stays due. Also skip a failure that is saved already: after an error behind the commit, a turn
# saves its results again.
FINISH = """
    UPDATE events_delivery d
    SET status = n.status, attempts = d.attempts + 1, last_status = n.last_status, last_error = n.last_error,
        attempted_at = n.attempted_at, next_attempt_at = n.next_attempt_at
    FROM unnest(
        %s::bigint[], %s::int[], %s::int[], %s::text[], %s::int[], %s::text[], %s::timestamptz[],
        %s::timestamptz[]
    ) AS n (id, replays, attempts, status, last_status, last_error, attempted_at, next_attempt_at)
    WHERE d.id = n.id AND d.replays = n.replays AND d.status = 'waiting'
      AND (d.attempts = n.attempts OR n.status <> 'waiting')
    RETURNING d.id
"""
# A subject is the record that an event is about, such as `order:7`. After a failed delivery, the later
# deliveries of its subject wait as long as the failed delivery. After a success, and when a delivery is given
# up, the later deliveries are due immediately.
FOLLOW = """
    UPDATE events_delivery d SET next_attempt_at = coalesce(n.next_attempt_at, now())
    FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::timestamptz[])
      AS n (webhook_id, subject, event_id, next_attempt_at)
    WHERE d.webhook_id = n.webhook_id AND d.subject = n.subject AND d.subject <> '' AND d.status = 'waiting'
      AND d.event_id > n.event_id
"""
# A delivery becomes due together with the first waiting delivery of its subject, but at least 0.5 s from now.
PARK = """
    UPDATE events_delivery d SET next_attempt_at = greatest(first.next_attempt_at, now() + interval '0.5 s')
    FROM events_delivery first
    WHERE d.id = ANY(%s) AND d.status = 'waiting'
      AND first.webhook_id = d.webhook_id AND first.subject = d.subject AND first.status = 'waiting'
      AND first.event_id = (
          SELECT min(event_id) FROM events_delivery
          WHERE webhook_id = d.webhook_id AND subject = d.subject AND subject <> '' AND status = 'waiting'
      )
"""
BRING_FORWARD = """
    UPDATE events_delivery SET next_attempt_at = now()
    WHERE id IN (
        SELECT id FROM events_delivery
        WHERE webhook_id = %s AND status = 'waiting' AND next_attempt_at > now() + interval '1 s' LIMIT %s
    )
"""
# A receiver has recovered if it failed for more than a minute, from its first to its last failure. A single
# failure is no outage: if a receiver always refuses one delivery, each later success would make this delivery
# due, and its delays would no longer grow.
NOTE = """
    UPDATE events_webhook w
    SET delivered_at = coalesce(n.delivered_at, w.delivered_at),
        failed_at = coalesce(n.failed_at, w.failed_at),
        failing_since = CASE WHEN n.failing THEN coalesce(w.failing_since, n.failed_at) END,
        last_error = CASE WHEN n.failing THEN n.error ELSE '' END
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[], %s::bool[], %s::text[])
      AS n (id, delivered_at, failed_at, failing, error) JOIN events_webhook before USING (id)
    WHERE w.id = n.id AND (
        n.failing <> (w.failing_since IS NOT NULL)
        OR greatest(w.delivered_at, w.failed_at) IS NULL
        OR greatest(n.delivered_at, n.failed_at) > greatest(w.delivered_at, w.failed_at) + interval '1 s'
    )
    RETURNING w.id, NOT n.failing AND before.failed_at > before.failing_since + interval '1 minute'
"""


class DeliveryResult(NamedTuple):
    """The receiver's answer to a delivery, and the consequence: arrive, try again, or give up."""

    due: Due
    answer: ReceiverAnswer
    move: DeliveryMove
    at: datetime
    next_at: datetime | None


def result_of(due: Due, answer: ReceiverAnswer) -> DeliveryResult:
    """Return the result with its move: arrive, try again, or give up after the delivery's lifetime."""
    now = time.time()
    move, next_at = ARRIVE, None
    if not answer.taken:
        then = now + delay_after(due.attempts + 1, answer.retry_after)
        move = TRY_AGAIN if then < due.expires_at else GIVE_UP
        next_at = datetime.fromtimestamp(then, UTC) if move is TRY_AGAIN else None
    return DeliveryResult(due, answer, move, datetime.fromtimestamp(now, UTC), next_at)


def write_down(results: Sequence[DeliveryResult]) -> set[int]:
    """Save results, and the new state of the receivers.

    Return the webhooks whose receivers accept deliveries again after an outage of more than a minute.
    """
    if not results:
        return set()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FINISH, _columns(_finished(result) for result in results))
        saved = {pk for (pk,) in cursor.fetchall()}
        # Later deliveries wait only after a failure, so skip deliveries that arrived at the first attempt.
        moved = [
            result
            for result in results
            if result.due.id in saved and result.due.subject and _moves_others(result)
        ]
        if moved:
            cursor.execute(FOLLOW, _columns(_followed(result) for result in moved))
        cursor.execute(NOTE, _columns(_notes(results)))
        return {webhook for webhook, has_recovered in cursor.fetchall() if has_recovered}


def _moves_others(result: DeliveryResult) -> bool:
    """Return whether later deliveries of the subject may wait for this delivery.

    No delivery waits for a first attempt that succeeds. A replay counts its attempts from 0 again.
    """
    return result.move is not ARRIVE or bool(result.due.attempts or result.due.replays)


def bring_forward(webhooks: Collection[int]) -> set[int]:
    """Make the waiting deliveries of recovered receivers due. Return the webhooks that may have more."""
    more = set()
    for webhook_id in webhooks:
        with connection.cursor() as cursor:
            cursor.execute(BRING_FORWARD, [webhook_id, MOST_BROUGHT_FORWARD])
            if cursor.rowcount == MOST_BROUGHT_FORWARD:
                more.add(webhook_id)
    return more


def park(deliveries: Sequence[int]) -> None:
    """Make deliveries wait for the first delivery of their subject."""
    if deliveries:
        with connection.cursor() as cursor:
            cursor.execute(PARK, [list(deliveries)])


def _finished(result: DeliveryResult) -> tuple[object, ...]:
    due, answer = result.due, result.answer
    move = result.move.target.value
    return due.id, due.replays, due.attempts, move, answer.status, answer.error, result.at, result.next_at


def _followed(result: DeliveryResult) -> tuple[object, ...]:
    return result.due.webhook_id, result.due.subject, result.due.event_id, result.next_at


def _notes(results: Sequence[DeliveryResult]) -> list[tuple[object, ...]]:
    """Return the last success and the last failure of each webhook, and whether its receiver fails."""
    notes: dict[int, tuple[datetime | None, datetime | None, bool, str]] = {}
    for result in results:
        taken_at, failed_at, _, _ = notes.get(result.due.webhook_id, (None, None, False, ""))
        if result.answer.taken:
            notes[result.due.webhook_id] = (result.at, failed_at, False, "")
        else:
            notes[result.due.webhook_id] = (taken_at, result.at, True, result.answer.error)
    return [(webhook, *note) for webhook, note in sorted(notes.items())]


def _columns(rows: Iterable[tuple[object, ...]]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]

"""Writing down how deliveries went: many by one statement each."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection, transaction

from events.states import ARRIVE, GIVE_UP, TRY_AGAIN, Move, delay_after
from events.webhooks.sending.http_client import Answer
from events.webhooks.sending.receivers import Due

MOST_BROUGHT_FORWARD = 2_000

# One that was replayed since it was read stays due: this answer is not the replay's.
FINISH = """
    UPDATE events_delivery d
    SET status = n.status, attempts = d.attempts + 1, last_status = n.last_status, last_error = n.last_error,
        attempted_at = n.attempted_at, next_attempt_at = n.next_attempt_at
    FROM unnest(
        %s::bigint[], %s::int[], %s::text[], %s::int[], %s::text[], %s::timestamptz[], %s::timestamptz[]
    ) AS n (id, replays, status, last_status, last_error, attempted_at, next_attempt_at)
    WHERE d.id = n.id AND d.replays = n.replays AND d.status = 'waiting'
"""
# What is behind one that failed waits as long as it does; behind one that was tried before, it is next.
FOLLOW = """
    UPDATE events_delivery d SET next_attempt_at = coalesce(n.next_attempt_at, now())
    FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::timestamptz[])
      AS n (webhook_id, subject, event_id, next_attempt_at)
    WHERE d.webhook_id = n.webhook_id AND d.subject = n.subject AND d.subject <> '' AND d.status = 'waiting'
      AND d.event_id > n.event_id
"""
# What stands behind a delivery that is not due yet is due with it.
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
NOTE = """
    UPDATE events_webhook w
    SET delivered_at = coalesce(n.delivered_at, w.delivered_at),
        failed_at = coalesce(n.failed_at, w.failed_at),
        failing_since = CASE WHEN n.failing THEN coalesce(w.failing_since, n.failed_at) END,
        last_error = CASE WHEN n.failing THEN n.error ELSE '' END
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[], %s::bool[], %s::text[])
      AS n (id, delivered_at, failed_at, failing, error)
    WHERE w.id = n.id AND (
        n.failing <> (w.failing_since IS NOT NULL)
        OR greatest(w.delivered_at, w.failed_at) IS NULL
        OR greatest(n.delivered_at, n.failed_at) > greatest(w.delivered_at, w.failed_at) + interval '1 s'
    )
"""


class Outcome(NamedTuple):
    """How a delivery went, and what becomes of it."""

    due: Due
    answer: Answer
    move: Move
    at: datetime
    next_at: datetime | None


def outcome_of(due: Due, answer: Answer) -> Outcome:
    """What follows from an answer: it has arrived, is tried again, or is given up when its time is over."""
    now = time.time()
    move, next_at = ARRIVE, None
    if not answer.taken:
        then = now + delay_after(due.attempts + 1, answer.retry_after)
        move = TRY_AGAIN if then < due.expires_at else GIVE_UP
        next_at = datetime.fromtimestamp(then, UTC) if move is TRY_AGAIN else None
    return Outcome(due, answer, move, datetime.fromtimestamp(now, UTC), next_at)


def write_down(outcomes: Sequence[Outcome]) -> None:
    """Save outcomes, and how the receivers stand after them."""
    if not outcomes:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FINISH, _columns(_finished(each) for each in outcomes))
        # Only one that failed, or had failed before, can have parked others.
        moved = [
            each for each in outcomes if each.due.subject and (each.move is not ARRIVE or each.due.attempts)
        ]
        if moved:
            cursor.execute(FOLLOW, _columns(_followed(each) for each in moved))
        cursor.execute(NOTE, _columns(_notes(outcomes)))


def bring_forward(webhooks: Collection[int]) -> set[int]:
    """Make due what waits for receivers that are back; the webhooks of which there may be more."""
    more = set()
    for webhook_id in webhooks:
        with connection.cursor() as cursor:
            cursor.execute(BRING_FORWARD, [webhook_id, MOST_BROUGHT_FORWARD])
            if cursor.rowcount == MOST_BROUGHT_FORWARD:
                more.add(webhook_id)
    return more


def park(deliveries: Sequence[int]) -> None:
    """Let deliveries wait for the first one of their subject."""
    if deliveries:
        with connection.cursor() as cursor:
            cursor.execute(PARK, [list(deliveries)])


def _finished(outcome: Outcome) -> tuple[Any, ...]:
    due, answer = outcome.due, outcome.answer
    move = outcome.move.target.value
    return due.id, due.replays, move, answer.status, answer.error, outcome.at, outcome.next_at


def _followed(outcome: Outcome) -> tuple[Any, ...]:
    return outcome.due.webhook_id, outcome.due.subject, outcome.due.event_id, outcome.next_at


def _notes(outcomes: Sequence[Outcome]) -> list[tuple[Any, ...]]:
    """For each webhook, when it last took something and when it last did not."""
    notes: dict[int, tuple[datetime | None, datetime | None, bool, str]] = {}
    for each in outcomes:
        taken_at, failed_at, _, _ = notes.get(each.due.webhook_id, (None, None, False, ""))
        if each.answer.taken:
            notes[each.due.webhook_id] = (each.at, failed_at, False, "")
        else:
            notes[each.due.webhook_id] = (taken_at, each.at, True, each.answer.error)
    return [(webhook, *note) for webhook, note in sorted(notes.items())]


def _columns(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]

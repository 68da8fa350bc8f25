"""Statements that read due deliveries: for each webhook, at most as many as fit into memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from django.db import connection

from events.webhooks.sending.receivers import FIRST_OPEN, IN_MEMORY, Due

# The webhooks with waiting deliveries. The recursion reads one index entry for each webhook, so the length of
# a backlog does not matter.
BUSY = """
    WITH RECURSIVE busy AS (
        (SELECT webhook_id FROM events_delivery WHERE status = 'waiting' ORDER BY webhook_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT d.webhook_id FROM events_delivery d
            WHERE d.status = 'waiting' AND d.webhook_id > busy.webhook_id
            ORDER BY d.webhook_id LIMIT 1
        ) FROM busy WHERE busy.webhook_id IS NOT NULL
    )
"""
DUE = f"""{BUSY}
    SELECT d.id, w.id, d.event_id, d.subject, d.attempts, d.replays,
    extract(epoch FROM d.expires_at)::float8, CASE
        WHEN d.subject <> '' THEN (
            SELECT max(before.event_id) FROM events_delivery before
            WHERE before.webhook_id = w.id AND before.subject = d.subject AND before.subject <> ''
              AND before.status = 'waiting' AND before.event_id < d.event_id
        ) END
    FROM busy
    JOIN events_webhook w ON w.id = busy.webhook_id
    LEFT JOIN unnest(%(webhooks)s::bigint[], %(rooms)s::int[]) AS known (id, room) ON known.id = w.id
    CROSS JOIN LATERAL (
        SELECT * FROM events_delivery
        WHERE webhook_id = w.id AND status = 'waiting' AND next_attempt_at <= now()
          AND NOT (id IN (SELECT unnest(%(held)s::bigint[])))
        ORDER BY next_attempt_at LIMIT coalesce(known.room, %(room)s)
    ) d
    WHERE w.sender_id = %(sender)s AND w.active AND w.removed_at IS NULL
    ORDER BY d.event_id
"""
NEXT_DUE = f"""{BUSY}
    SELECT extract(epoch FROM min(d.next_attempt_at) - now())::float8
    FROM busy
    JOIN events_webhook w ON w.id = busy.webhook_id
    LEFT JOIN unnest(%(webhooks)s::bigint[], %(rooms)s::int[]) AS known (id, room) ON known.id = w.id
    CROSS JOIN LATERAL (
        SELECT next_attempt_at FROM events_delivery
        WHERE webhook_id = w.id AND status = 'waiting' AND NOT (id IN (SELECT unnest(%(held)s::bigint[])))
        ORDER BY next_attempt_at LIMIT 1
    ) d
    WHERE w.sender_id = %(sender)s AND w.active AND w.removed_at IS NULL AND coalesce(known.room, 1) > 0
"""


def read_due(sender_id: int, rooms: Mapping[int, int], held: Iterable[int]) -> list[Due]:
    """Return the due deliveries of a sender's webhooks in the order of the events.

    `rooms` has the free slots by webhook. `held` are deliveries in memory, which are left out.
    """
    with connection.cursor() as cursor:
        cursor.execute(DUE, {**_parameters(sender_id, rooms, held), "room": FIRST_OPEN * IN_MEMORY})
        return [Due(*row) for row in cursor.fetchall()]


def seconds_until_due(sender_id: int, rooms: Mapping[int, int], held: Iterable[int]) -> float:
    """Return the seconds until a sender has another delivery to read, or infinity if no delivery waits."""
    with connection.cursor() as cursor:
        cursor.execute(NEXT_DUE, _parameters(sender_id, rooms, held))
        (seconds,) = cursor.fetchone()
    return math.inf if seconds is None else float(seconds)


def _parameters(sender_id: int, rooms: Mapping[int, int], held: Iterable[int]) -> dict[str, int | list[int]]:
    return {"sender": sender_id, "webhooks": list(rooms), "rooms": list(rooms.values()), "held": list(held)}

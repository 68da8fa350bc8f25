"""Read due deliveries: of each webhook only as many as there is room for, however long its backlog is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import connection

from events.webhooks.sending.receivers import FIRST_OPEN, IN_MEMORY, Due

# Reads one index entry for each webhook with a backlog, then only as many rows as the process has room for.
DUE = """
    WITH RECURSIVE busy AS (
        (SELECT webhook_id FROM events_delivery WHERE status = 'waiting' ORDER BY webhook_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT d.webhook_id FROM events_delivery d
            WHERE d.status = 'waiting' AND d.webhook_id > busy.webhook_id
            ORDER BY d.webhook_id LIMIT 1
        ) FROM busy WHERE busy.webhook_id IS NOT NULL
    )
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


def read_due(sender_id: int, rooms: Mapping[int, int], held: Iterable[int]) -> list[Due]:
    """Return the due deliveries of a sender's webhooks, without the held ones, in the order of the events."""
    parameters: dict[str, int | list[int]] = {
        "sender": sender_id,
        "webhooks": list(rooms),
        "rooms": list(rooms.values()),
        "room": FIRST_OPEN * IN_MEMORY,
        "held": list(held),
    }
    with connection.cursor() as cursor:
        cursor.execute(DUE, parameters)
        return [Due(*row) for row in cursor.fetchall()]

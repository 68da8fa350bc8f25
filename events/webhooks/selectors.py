"""How webhooks stand: what waits for them, and what was given up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection
from django.db.models import Count

from events.models import Delivery, Sender, Webhook
from events.states import DEAD, WAITING


class Backlog(NamedTuple):
    """What a webhook's receiver has not taken."""

    waiting: int
    dead: int


class Standing(NamedTuple):
    """All webhooks together: deliveries that wait and that were given up, and the lag in seconds."""

    waiting: int
    dead: int
    lag: float


# How far the relay is behind, where anybody listens; and the senders, with what could be sent by now.
STANDING = """
    SELECT
        (SELECT count(*) FROM (
            SELECT FROM events_delivery WHERE status = 'waiting' LIMIT %(most)s) AS looked_at),
        (SELECT count(*) FROM (
            SELECT FROM events_delivery WHERE status = 'dead' LIMIT %(most)s) AS looked_at),
        greatest(
            0,
            (SELECT extract(epoch FROM clock_timestamp() - occurred_at) FROM events_event
             WHERE number > greatest(
                (SELECT min(after) FROM events_webhook WHERE removed_at IS NULL),
                (SELECT number FROM events_relaybookmark WHERE id = 1)
             ) AND EXISTS (SELECT FROM events_webhook WHERE removed_at IS NULL AND active)
             ORDER BY number LIMIT 1),
            (SELECT max(extract(epoch FROM clock_timestamp() - first.next_attempt_at))
             FROM events_webhook w, LATERAL (
                SELECT next_attempt_at FROM events_delivery
                WHERE webhook_id = w.id AND status = 'waiting' ORDER BY next_attempt_at LIMIT 1
             ) AS first
             WHERE w.removed_at IS NULL AND w.active)
        )
"""


def stand(most: int) -> Standing:
    """How all webhooks stand; deliveries are counted up to `most` of a kind."""
    with connection.cursor() as cursor:
        cursor.execute(STANDING, {"most": most})
        waiting, dead, lag = cursor.fetchone()
    return Standing(waiting, dead, float(lag))


def nobody_sends() -> bool:
    """Whether there are webhooks, and no process that sends to them."""
    return Webhook.objects.present().filter(active=True).exists() and not Sender.objects.alive().exists()


def backlogs(webhooks: Sequence[int]) -> dict[int, Backlog]:
    """The backlogs of webhooks, by their ids; each has one."""
    counted = {
        status: dict(
            Delivery.objects.filter(webhook__in=webhooks, status=status)
            .order_by()
            .values_list("webhook")
            .annotate(Count("pk"))
        )
        for status in (WAITING, DEAD)
    }
    return {each: Backlog(counted[WAITING].get(each, 0), counted[DEAD].get(each, 0)) for each in webhooks}

"""Counts of waiting and dead deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection
from django.db.models import Count

from events.models import Delivery, Sender, Webhook
from events.states import DEAD, WAITING


class WebhookBacklog(NamedTuple):
    """The deliveries of a webhook that its receiver has not accepted."""

    waiting: int
    dead: int


class DeliveryTotals(NamedTuple):
    """The waiting and dead deliveries of all webhooks, and the lag in seconds."""

    waiting: int
    dead: int
    lag: float


# The lag is the age of the oldest event to relay or of the oldest due delivery, whichever is larger.
TOTALS = """
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


def delivery_totals(most: int) -> DeliveryTotals:
    """Return the totals of all webhooks. Each count stops at `most`."""
    with connection.cursor() as cursor:
        cursor.execute(TOTALS, {"most": most})
        waiting, dead, lag = cursor.fetchone()
    return DeliveryTotals(waiting, dead, float(lag))


def no_sender_runs() -> bool:
    """Return whether there are active webhooks but no sender process."""
    return Webhook.objects.present().filter(active=True).exists() and not Sender.objects.alive().exists()


def backlogs(webhooks: Sequence[int]) -> dict[int, WebhookBacklog]:
    """Return the backlog of each webhook by its id."""
    counted = {
        status: dict(
            Delivery.objects.filter(webhook__in=webhooks, status=status)
            .order_by()
            .values_list("webhook")
            .annotate(Count("pk"))
        )
        for status in (WAITING, DEAD)
    }
    return {pk: WebhookBacklog(counted[WAITING].get(pk, 0), counted[DEAD].get(pk, 0)) for pk in webhooks}

"""The end of deliveries: expired deliveries become dead, and old deliveries are deleted.

A delivery that no longer waits is deleted WEBHOOK_DELIVERY_DAYS after its last attempt. If there was no
attempt, the days count from the delivery's expiry. With 0, deliveries are kept forever.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from events.models import Delivery, Webhook
from events.states import WAITING

MOST = 5_000  # the most rows that one statement changes or deletes

# Senders do not try a delivery while its webhook is switched off, or while an earlier delivery of the same
# record waits. Give up such deliveries after their expiry.
GIVE_UP = """
    UPDATE events_delivery SET status = 'dead', next_attempt_at = NULL
    WHERE id IN (
        SELECT id FROM events_delivery
        WHERE status = 'waiting' AND expires_at < now() - interval '10 minutes' LIMIT %s
    )
"""


def keep_up() -> None:
    """Give up expired deliveries. Delete old deliveries, and removed webhooks with their deliveries."""
    _repeat_until_few(_give_up)
    _repeat_until_few(_remove_old)
    _repeat_until_few(_remove_of_removed)
    Webhook.objects.exclude(removed_at=None).filter(deliveries=None).delete()


def _repeat_until_few(step: Callable[[], int]) -> None:
    while step() == MOST:
        pass


def _give_up() -> int:
    with connection.cursor() as cursor:
        cursor.execute(GIVE_UP, [MOST])
        return int(cursor.rowcount)


def _remove_old() -> int:
    if settings.WEBHOOK_DELIVERY_DAYS <= 0:
        return 0
    before = Now() - timedelta(days=settings.WEBHOOK_DELIVERY_DAYS)
    old = Q(attempted_at__lt=before) | Q(attempted_at=None, expires_at__lt=before)  # never attempted
    return _remove(Delivery.objects.exclude(status=WAITING).filter(old))


def _remove_of_removed() -> int:
    return _remove(Delivery.objects.exclude(webhook__removed_at=None))


def _remove(rows: QuerySet[Delivery]) -> int:
    ids = list(rows.order_by().values_list("pk", flat=True)[:MOST])
    return rows.filter(pk__in=ids).delete()[0]  # a replay may have revived some of them since

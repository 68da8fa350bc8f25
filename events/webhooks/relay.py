"""Events become deliveries: each one once for each webhook that wants it, and none is left out.

The feed's numbers appear in one order (ADR 68), so that a bookmark in them misses nothing. It moves in the
transaction that inserts the deliveries, under its lock: there may be as many relays as there are senders.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.db.models import Max, Min

from events.models import Delivery, Event, RelayBookmark, Webhook

LIFETIME = f"{Delivery.LIFETIME.total_seconds():.0f} seconds"
MOST_EVENTS = 2_000  # that one transaction goes through

# What orders keep, imports keep: those of one are sent in their order.
SUBJECT = """
    CASE WHEN e.order_id IS NOT NULL THEN 'order:' || e.order_id
         WHEN e.import_id IS NOT NULL THEN 'import:' || e.import_id
         ELSE '' END
"""
WANTED = "e.area = ANY(w.areas) AND (w.types = '{}' OR e.type = ANY(w.types))"
COLUMNS = "(webhook_id, event_id, subject, status, attempts, last_error, next_attempt_at, expires_at)"
VALUES = f"w.id, e.number, {SUBJECT}, 'waiting', 0, '', now(), now() + %(lifetime)s::interval"
INSERT = f"""
    INSERT INTO events_delivery {COLUMNS}
    SELECT {VALUES}
    FROM events_event e CROSS JOIN LATERAL (
        SELECT * FROM events_webhook WHERE supplier_id = e.supplier_id
        UNION ALL
        SELECT * FROM events_webhook WHERE retailer_id = e.retailer_id
    ) w
    WHERE e.number > %(after)s AND e.number <= %(until)s AND e.number > w.after
      AND w.active AND w.removed_at IS NULL AND {WANTED}
    ORDER BY e.number
    ON CONFLICT (webhook_id, event_id) DO NOTHING
"""
# One that is frozen here would keep the bookmark from all others.
NOT_FOR_LONG = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
# Of one party, found by the index of its events.
OF_PARTY = f"""
    FROM events_webhook w JOIN events_event e ON e.{{party}}_id = w.{{party}}_id
    WHERE w.id = %(webhook)s AND e.number > %(after)s AND e.number <= %(until)s AND {WANTED}
"""
COUNT = f"SELECT count(*) FROM (SELECT {OF_PARTY} LIMIT %(most)s) counted"
INSERT_AGAIN = f"""
    INSERT INTO events_delivery {COLUMNS}
    SELECT {VALUES} {OF_PARTY}
    ORDER BY e.number
    ON CONFLICT (webhook_id, event_id) DO UPDATE
    SET status = 'waiting', attempts = 0, next_attempt_at = now(), expires_at = excluded.expires_at,
        replays = events_delivery.replays + 1
"""
REVIVE = """
    UPDATE events_delivery
    SET status = 'waiting', attempts = 0, next_attempt_at = now(),
        expires_at = now() + %(lifetime)s::interval, replays = replays + 1
    WHERE webhook_id = %(webhook)s AND status = 'dead'
"""


def relay() -> int:
    """Make deliveries of the next committed events; return how many events these were, 0 at the end.

    Where another process is at it, it is left to that.
    """
    Event.publish()
    with transaction.atomic():
        at = RelayBookmark.lock(wait=False)
        if at is None:
            return 0
        at = max(at, _before_all_webhooks())
        following = Event.objects.filter(number__gt=at).order_by("number")
        numbers = [each or 0 for each in following.values_list("number", flat=True)[:MOST_EVENTS]]
        if numbers:
            with connection.cursor() as cursor:
                cursor.execute(NOT_FOR_LONG)
                cursor.execute(INSERT, {"after": at, "until": numbers[-1], "lifetime": LIFETIME})
            RelayBookmark.objects.filter(pk=1).update(number=numbers[-1])
        return len(numbers)


def _before_all_webhooks() -> int:
    """What nobody wants to hear of lies before this number."""
    first = Webhook.objects.present().aggregate(after=Min("after"))["after"]
    return last_number() if first is None else first


def last_number() -> int:
    """The number of the last event in the feed; 0 where there is none."""
    return Event.objects.aggregate(last=Max("number"))["last"] or 0


def count_wanted(webhook: Webhook, after: int, until: int, *, most: int) -> int:
    """How many events in that stretch of the feed a webhook wants; counted up to `most`."""
    with connection.cursor() as cursor:
        cursor.execute(_of_party(COUNT, webhook), {**_stretch(webhook, after, until), "most": most})
        (count,) = cursor.fetchone()
    return int(count)


def relay_again(webhook: Webhook, after: int, until: int) -> int:
    """Make deliveries, old ones anew, of all in a stretch of the feed that a webhook wants; how many."""
    given = {**_stretch(webhook, after, until), "lifetime": LIFETIME}
    with connection.cursor() as cursor:
        cursor.execute(_of_party(INSERT_AGAIN, webhook), given)
        return int(cursor.rowcount)


def revive_dead(webhook: Webhook) -> int:
    """Make all deliveries of a webhook that were given up wait again; how many."""
    with connection.cursor() as cursor:
        cursor.execute(REVIVE, {"webhook": webhook.pk, "lifetime": LIFETIME})
        return int(cursor.rowcount)


def _of_party(statement: str, webhook: Webhook) -> str:
    return statement.replace("{party}", webhook.role.value)


def _stretch(webhook: Webhook, after: int, until: int) -> dict[str, int | str]:
    return {"webhook": webhook.pk, "after": after, "until": until}

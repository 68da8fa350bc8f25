"""The relay creates one delivery for each event and each webhook that wants the event.

The bookmark is the number of the last relayed event. Numbers become visible in order (ADR 46), so no event is
missed. The transaction that inserts the deliveries also locks and updates the bookmark, so several processes
may relay.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.db.models import Max, Min

from events.models import Delivery, Event, RelayBookmark, Webhook

LIFETIME = f"{Delivery.LIFETIME.total_seconds():.0f} seconds"
MOST_EVENTS = 2_000  # the most events that one transaction relays

# The subject of an event: an order or an import. Events with the same subject are sent in order.
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
# A frozen process must not keep the bookmark locked.
NOT_FOR_LONG = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
# SQL for the events that one webhook wants. It uses the index by party and number.
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
    """Create deliveries for the next committed events, and return the number of these events.

    Return 0 at the end of the feed, or while another process is relaying.
    """
    Event.publish()
    with transaction.atomic():
        bookmark = RelayBookmark.lock(wait=False)
        if bookmark is None:
            return 0
        after = max(bookmark, _before_all_webhooks())
        following = Event.objects.filter(number__gt=after).order_by("number")
        numbers = [number or 0 for number in following.values_list("number", flat=True)[:MOST_EVENTS]]
        if numbers:
            with connection.cursor() as cursor:
                cursor.execute(NOT_FOR_LONG)
                cursor.execute(INSERT, {"after": after, "until": numbers[-1], "lifetime": LIFETIME})
            RelayBookmark.objects.filter(pk=1).update(number=numbers[-1])
        return len(numbers)


def _before_all_webhooks() -> int:
    """Return the number after which the first webhook wants events: no webhook wants an earlier event."""
    first = Webhook.objects.present().aggregate(after=Min("after"))["after"]
    return last_number() if first is None else first


def last_number() -> int:
    """Return the number of the last event in the feed, or 0."""
    return Event.objects.aggregate(last=Max("number"))["last"] or 0


def count_wanted(webhook: Webhook, after: int, until: int, *, most: int) -> int:
    """Count the events in this range of the feed that a webhook wants, up to `most`."""
    with connection.cursor() as cursor:
        cursor.execute(_of_party(COUNT, webhook), {**_range(webhook, after, until), "most": most})
        (count,) = cursor.fetchone()
    return int(count)


def relay_again(webhook: Webhook, after: int, until: int) -> int:
    """Create or repeat the deliveries of a range of the feed to a webhook, and return their number."""
    parameters = {**_range(webhook, after, until), "lifetime": LIFETIME}
    with connection.cursor() as cursor:
        cursor.execute(_of_party(INSERT_AGAIN, webhook), parameters)
        return int(cursor.rowcount)


def revive_dead(webhook: Webhook) -> int:
    """Make all dead deliveries of a webhook wait again, and return their number."""
    with connection.cursor() as cursor:
        cursor.execute(REVIVE, {"webhook": webhook.pk, "lifetime": LIFETIME})
        return int(cursor.rowcount)


def _of_party(statement: str, webhook: Webhook) -> str:
    return statement.replace("{party}", webhook.role.value)


def _range(webhook: Webhook, after: int, until: int) -> dict[str, int | str]:
    return {"webhook": webhook.pk, "after": after, "until": until}

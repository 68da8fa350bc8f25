"""Sums up suppliers' events by day. Each event counts once, even if a run is interrupted."""

from __future__ import annotations

from time import monotonic

from django.db import connection, transaction

from fulfillments.models import SummedEvents
from fulfillments.scorecard import measures
from fulfillments.states import (
    ACCEPT,
    APPROVE_CANCELATION,
    REFUSE_CANCELATION,
    REJECT_OUT_OF_STOCK,
    REQUEST_CANCELATION,
    SHIP,
    State,
    sql,
)

PORTION = 5_000
"""The largest number of events in one transaction."""
ONLY = 1
"""The id of the only bookmark row."""

# Event numbers have gaps: a new epoch begins far beyond the end of the one before.
NEXT = """
    SELECT count(*), coalesce(max(number), 0) FROM (
        SELECT number FROM events_event WHERE number > %(after)s ORDER BY number LIMIT %(most)s
    ) AS portion
"""
# The measures of each event. Times start at the creation of the fulfillment. A dry run of a file is no feed,
# because it changes no stock.
FACTS = f"""
    WITH batch AS (
        SELECT e.supplier_id, coalesce(e.retailer_id, 0) AS retailer_id, e.type, e.from_state, e.to_state,
            e.data, e.actor, e.occurred_at, e.fulfillment_id
        FROM events_event e
        WHERE e.number > %(after)s AND e.number <= %(until)s AND e.supplier_id IS NOT NULL
            AND e.area IN ('fulfillments', 'inventory')
    ), work AS (
        SELECT b.*, f.created_at, c.captured_at
        FROM batch b JOIN fulfillments_fulfillment f ON f.id = b.fulfillment_id
        LEFT JOIN fulfillments_capture c ON c.fulfillment_id = f.id
    ), facts AS (
        SELECT supplier_id, retailer_id, occurred_at, '{measures.CREATED}' AS measure, NULL::interval AS took
        FROM work WHERE type = 'fulfillment.created'
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.TO_CAPTURE}', captured_at - created_at
        FROM work
        WHERE from_state = {sql(State.NEW)} AND to_state <> {sql(State.NEW)} AND captured_at IS NOT NULL
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.TO_ACCEPT}', occurred_at - created_at
        FROM work WHERE type = '{ACCEPT.event}'
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.TO_SHIP}', occurred_at - created_at
        FROM work WHERE type = '{SHIP.event}' AND to_state = {sql(State.SHIPPED)}
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, data->>'reason', NULL
        FROM work WHERE type = '{REJECT_OUT_OF_STOCK.event}' AND data->>'reason' = ANY(%(reasons)s)
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.REQUESTED}', NULL
        FROM work WHERE type = '{REQUEST_CANCELATION.event}'
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, CASE
            WHEN actor = 'system:cancelation time limit' THEN '{measures.UNANSWERED}'
            WHEN type = '{APPROVE_CANCELATION.event}' THEN '{measures.APPROVED}'
            ELSE '{measures.REFUSED}' END, NULL
        FROM work WHERE from_state = {sql(State.CANCELING)}
            AND type IN ('{APPROVE_CANCELATION.event}', '{REFUSE_CANCELATION.event}')
        UNION ALL
        SELECT supplier_id, 0, occurred_at, '{measures.FEEDS}', NULL
        FROM batch WHERE type = 'inventory.updated' OR type = 'import.succeeded'
            AND data->>'kind' = 'inventory' AND coalesce(data->>'dry_run', 'false') = 'false'
    )
"""  # noqa: S608 - built from constants
ADD_UP = f"""
    {FACTS}
    INSERT INTO fulfillments_dailysum AS known
        (supplier_id, retailer_id, day, measure, bucket, count, seconds)
    SELECT supplier_id, of_retailer, (occurred_at AT TIME ZONE 'UTC')::date, measure,
        coalesce(width_bucket((extract(epoch FROM took) / 3600)::float8, %(bounds)s::float8[]), 0),
        count(*), coalesce(sum(greatest(extract(epoch FROM took), 0)), 0)::bigint
    FROM facts, LATERAL (SELECT DISTINCT * FROM (VALUES (0::bigint), (retailer_id)) r (id)) r (of_retailer)
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (supplier_id, retailer_id, day, measure, bucket) DO UPDATE
    SET count = known.count + excluded.count, seconds = known.seconds + excluded.seconds
"""  # noqa: S608 - built from constants


def add_up(*, seconds: float) -> int:
    """Add new events for some seconds; return their number."""
    end, summed = monotonic() + seconds, 0
    while portion := _add_portion():
        summed += portion
        if monotonic() > end:
            break
    return summed


def _add_portion() -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        SummedEvents.objects.get_or_create(pk=ONLY)
        bookmark = SummedEvents.objects.select_for_update(skip_locked=True).filter(pk=ONLY).first()
        if bookmark is None:  # another run is adding now
            return 0
        cursor.execute(NEXT, {"after": bookmark.number, "most": PORTION})
        portion, until = (int(value) for value in cursor.fetchone())
        if portion:
            window = {"after": bookmark.number, "until": until}
            cursor.execute(ADD_UP, {**window, "reasons": [*measures.REFUSALS], "bounds": [*measures.BOUNDS]})
            bookmark.number = until
            bookmark.save(update_fields=["number"])
    return portion

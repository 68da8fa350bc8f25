"""The daily sums of suppliers' events. Each event counts once, even if a run is interrupted."""

from __future__ import annotations

from time import monotonic
from typing import Any

from django.db import connection, transaction

from fulfillments.models import SummedEvents
from fulfillments.scorecard import measures
from fulfillments.states import (
    ACCEPT,
    APPROVE_CANCELATION,
    CORRECTED,
    REFUSE_CANCELATION,
    REJECT_OUT_OF_STOCK,
    REQUEST_CANCELATION,
    SHIP,
    State,
    sql,
)
from inventory.importing.kind import INVENTORY

PORTION = 5_000
"""The largest number of events in one transaction."""
ONLY = 1
"""The id of the only bookmark row."""

# Read the next portion to find its last number, because event numbers have gaps: a new epoch starts with much
# higher numbers.
NEXT = """
    SELECT count(*), coalesce(max(number), 0) FROM (
        SELECT number FROM events_event WHERE number > %(after)s ORDER BY number LIMIT %(most)s
    ) AS portion
"""


def _first(condition: str) -> str:
    """Return SQL that is true if the condition is false for every earlier event `e` of the fulfillment.

    The condition may also use the counted event `b`. A fulfillment can be accepted, shipped or rejected
    several times, but each fulfillment counts once.
    """
    return f"""NOT EXISTS (SELECT FROM events_event e WHERE e.order_id = b.order_id
        AND e.fulfillment_id = b.fulfillment_id AND e.id < b.id AND {condition})"""


# The work on a fulfillment begins with its first move. The retailer's cancel request does not count as work.
MOVED = f"{{event}}.from_state <> '' AND {{event}}.type <> '{REQUEST_CANCELATION.event}'"
REJECTED = f"{{event}}.type = '{REJECT_OUT_OF_STOCK.event}' AND {{event}}.data->>'reason' = ANY(%(reasons)s)"
# Use the time of the last parcel, not the time of the event that completed the fulfillment. The completing
# event may be the cancellation of the other units, days later.
LAST_PARCEL = f"""(
    SELECT max(e.occurred_at) FROM events_event e WHERE e.order_id = b.order_id
        AND e.fulfillment_id = b.fulfillment_id AND e.id <= b.id AND e.type = '{SHIP.event}'
)"""  # noqa: S608 - built from constants

# The measures of each event. Durations start at the creation of the fulfillment. A feed is a push or a stock
# file. A dry run of a file is not counted as a feed, because it changes no stock.
FACTS = f"""
    WITH batch AS (
        SELECT e.id, e.supplier_id, coalesce(e.retailer_id, 0) AS retailer_id, e.type, e.from_state,
            e.to_state, e.data, e.actor, e.occurred_at, e.order_id, e.fulfillment_id
        FROM events_event e
        WHERE e.number > %(after)s AND e.number <= %(until)s AND e.supplier_id IS NOT NULL
            AND e.area IN ('fulfillments', 'inventory')
    ), work AS (
        SELECT b.*, f.created_at, c.captured_at
        FROM batch b JOIN fulfillments_fulfillment f ON f.id = b.fulfillment_id
        LEFT JOIN fulfillments_capture c ON c.fulfillment_id = f.id
    ), shipped AS (
        SELECT supplier_id, retailer_id, created_at, {LAST_PARCEL} AS shipped_at
        FROM work b WHERE to_state = {sql(State.SHIPPED)} AND {_first(f"e.to_state = {sql(State.SHIPPED)}")}
    ), facts AS (
        SELECT supplier_id, retailer_id, occurred_at, '{measures.CREATED}' AS measure, NULL::interval AS took
        FROM work WHERE type = 'fulfillment.created'
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.TO_CAPTURE}', captured_at - created_at
        FROM work b WHERE {MOVED.format(event="b")} AND captured_at <= occurred_at
            AND {_first(MOVED.format(event="e"))}
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.TO_ACCEPT}', occurred_at - created_at
        FROM work b WHERE type = '{ACCEPT.event}' AND {_first("e.type = b.type")}
        UNION ALL
        SELECT supplier_id, retailer_id, shipped_at, '{measures.TO_SHIP}', shipped_at - created_at
        FROM shipped WHERE shipped_at IS NOT NULL
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, data->>'reason', NULL
        FROM work b WHERE {REJECTED.format(event="b")}
            AND {_first("e.type = b.type AND e.data->>'reason' = b.data->>'reason'")}
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.REJECTED}', NULL
        FROM work b WHERE {REJECTED.format(event="b")} AND {_first(REJECTED.format(event="e"))}
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.REQUESTED}', NULL
        FROM work WHERE type = '{REQUEST_CANCELATION.event}' AND from_state <> {sql(State.CANCELING)}
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, CASE
            WHEN actor = 'system:cancelation time limit' THEN '{measures.UNANSWERED}'
            WHEN type = '{APPROVE_CANCELATION.event}' THEN '{measures.APPROVED}'
            ELSE '{measures.REFUSED}' END, NULL
        FROM work WHERE from_state = {sql(State.CANCELING)}
            AND type IN ('{APPROVE_CANCELATION.event}', '{REFUSE_CANCELATION.event}')
        UNION ALL
        SELECT supplier_id, retailer_id, occurred_at, '{measures.DOUBTFUL_TRACKING}', NULL
        FROM work WHERE type IN ('{SHIP.event}', '{CORRECTED}') AND data->>'doubtful' = 'true'
        UNION ALL
        SELECT supplier_id, 0, occurred_at, '{measures.FEEDS}', NULL
        FROM batch WHERE type = 'inventory.updated' OR type = 'import.succeeded'
            AND data->>'kind' = '{INVENTORY.name}' AND coalesce(data->>'dry_run', 'false') = 'false'
    )
"""  # noqa: S608 - built from constants
SUMS = """
    SELECT supplier_id, of_retailer AS retailer_id, (occurred_at AT TIME ZONE 'UTC')::date AS day, measure,
        coalesce(width_bucket((extract(epoch FROM took) / 3600)::float8, %(bounds)s::float8[]), 0) AS bucket,
        count(*) AS count, coalesce(sum(greatest(extract(epoch FROM took), 0)), 0)::bigint AS seconds
    FROM facts, LATERAL (SELECT DISTINCT * FROM (VALUES (0::bigint), (retailer_id)) r (id)) r (of_retailer)
    GROUP BY 1, 2, 3, 4, 5
"""
ADD_UP = f"""
    {FACTS}
    INSERT INTO fulfillments_dailysum AS known
        (supplier_id, retailer_id, day, measure, bucket, count, seconds)
    {SUMS}
    ON CONFLICT (supplier_id, retailer_id, day, measure, bucket) DO UPDATE
    SET count = known.count + excluded.count, seconds = known.seconds + excluded.seconds
"""  # noqa: S608 - built from constants

# Recompute the sums of all counted events, and compare them with the stored sums. Times to capture are left
# out, because a later capture replaces the earlier capture. Feeds are left out, because their events are
# deleted later. Each run rounds its sum to seconds, so a stored sum may differ by less than a second for each
# event.
KEPT = f"measure NOT IN ('{measures.TO_CAPTURE}', '{measures.FEEDS}')"
RECOMPUTED = f"""
    {FACTS}, counted AS ({SUMS}), wrong AS (
        SELECT supplier_id, retailer_id, day, measure, bucket, s.count AS stored, c.count, c.seconds
        FROM fulfillments_dailysum s FULL JOIN counted c
            USING (supplier_id, retailer_id, day, measure, bucket)
        WHERE {KEPT} AND (coalesce(s.count, 0) <> coalesce(c.count, 0)
            OR abs(coalesce(s.seconds, 0) - coalesce(c.seconds, 0)) > coalesce(c.count, 0))
    )
"""  # noqa: S608 - built from constants
WRONG_SUMS = f"""
    {RECOMPUTED}
    SELECT 'scorecard of supplier ' || supplier_id || ' on ' || day,
        measure || ' ' || coalesce(stored, 0), measure || ' ' || coalesce(count, 0)
    FROM wrong WHERE retailer_id = 0
"""  # noqa: S608 - built from constants
MEND_SUMS = f"""
    {RECOMPUTED}, gone AS (
        DELETE FROM fulfillments_dailysum s USING wrong w
        WHERE w.count IS NULL AND (s.supplier_id, s.retailer_id, s.day, s.measure, s.bucket)
            = (w.supplier_id, w.retailer_id, w.day, w.measure, w.bucket)
    )
    INSERT INTO fulfillments_dailysum (supplier_id, retailer_id, day, measure, bucket, count, seconds)
    SELECT supplier_id, retailer_id, day, measure, bucket, count, seconds FROM wrong WHERE count IS NOT NULL
    ON CONFLICT (supplier_id, retailer_id, day, measure, bucket) DO UPDATE
    SET count = excluded.count, seconds = excluded.seconds
"""  # noqa: S608 - built from constants
PARAMS: dict[str, Any] = {"reasons": [*measures.REFUSALS], "bounds": [*measures.BOUNDS]}


def all_counted() -> dict[str, Any]:
    """Return the parameters of WRONG_SUMS and MEND_SUMS: all events up to the bookmark."""
    bookmark = SummedEvents.objects.filter(pk=ONLY).first()
    return {**PARAMS, "after": -1, "until": bookmark.number if bookmark else -1}


def add_up(*, seconds: float) -> int:
    """Add new events to the sums for some seconds. Return the number of added events."""
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
        if bookmark is None:  # another run has locked the row and adds events now
            return 0
        cursor.execute(NEXT, {"after": bookmark.number, "most": PORTION})
        portion, until = (int(value) for value in cursor.fetchone())
        if portion:
            window = {"after": bookmark.number, "until": until}
            cursor.execute(ADD_UP, {**PARAMS, **window})
            bookmark.number = until
            bookmark.save(update_fields=["number"])
    return portion

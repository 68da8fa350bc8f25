"""The captures of fulfillments: a supplier has read these fulfillments in a list or in a file."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from django.db.models import QuerySet

from fulfillments.models import Capture, Fulfillment
from fulfillments.selectors import FulfillmentRow, rows


def mark_captured(page: Sequence[FulfillmentRow], listed: QuerySet[Fulfillment]) -> list[FulfillmentRow]:
    """Save a capture for each row without `captured_at`. Return the rows as they are after their capture.

    A row has no `captured_at` before its first capture, and after a correction of its address. Fulfillments
    that are no longer in `listed` after the capture are left out, and are not captured.
    """
    uncaptured = [row.id for row in page if row.captured_at is None]
    if not uncaptured:
        return list(page)
    saved = save_captures(uncaptured)
    # Only a new statement can see the change for which the capture waited, and others' captures.
    now = {row.id: row for row in rows(listed.filter(pk__in=uncaptured))}
    if left_out := [pk for pk in saved if pk not in now]:
        captures = Capture.objects.filter(pk__in=left_out)
        # A first capture is deleted, because the supplier has not seen the fulfillment.
        captures.filter(captured_again_at=None).delete()
        captures.update(outdated=True)
    shown = (now.get(row.id) if row.captured_at is None else row for row in page)
    return [row for row in shown if row is not None]


def save_captures(ids: Sequence[int]) -> list[int]:
    """Save a capture for each of these fulfillments without one. Return the ids of the new captures.

    The statement locks no row that a move needs. But it waits for a cancellation by the retailer, and for a
    change of the address.
    """
    # A change of the address locks fulfillments before captures, so the statement does the same. The array
    # is complete, and all fulfillments are locked, before the first capture is written.
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH locked AS (
                SELECT id FROM fulfillments_fulfillment WHERE id = ANY(%s::bigint[]) ORDER BY id FOR KEY SHARE
            )
            INSERT INTO fulfillments_capture AS capture (fulfillment_id)
                SELECT unnest(array_agg(id ORDER BY id)) FROM locked
            ON CONFLICT (fulfillment_id) DO UPDATE
                SET outdated = false, captured_again_at = statement_timestamp() WHERE capture.outdated
            RETURNING fulfillment_id
            """,
            [list(ids)],
        )
        return [pk for (pk,) in cursor.fetchall()]

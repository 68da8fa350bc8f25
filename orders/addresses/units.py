"""The refused units of order lines that wait for another address."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, F, Func, IntegerField, OuterRef, QuerySet, When
from django.db.models.functions import Least

from fulfillments.states import State, sql
from orders.models import OrderLine


class _RefusedForAddress(Func):
    """The units of an order line in rejections for the address that have not ended."""

    output_field = IntegerField()
    template = f"""(
        SELECT coalesce(sum(item.quantity), 0) FROM fulfillments_fulfillmentline part
        JOIN fulfillments_rejection rejection ON rejection.fulfillment_id = part.fulfillment_id
        CROSS JOIN jsonb_to_recordset(rejection.items) item (line bigint, quantity integer)
        WHERE part.order_line_id = %(expressions)s AND item.line = part.id
            AND rejection.reason = {sql(State.WRONG_ADDRESS)} AND rejection.ended_at IS NULL
    )"""  # noqa: S608 - from constants


def refused_lines() -> QuerySet[Any]:
    """Return a subquery for the refused lines of an order, with `for_address`."""
    lines = OrderLine.objects.filter(order=OuterRef("pk"), rejected__gt=0)
    return with_units_for_address(lines.order_by())


def with_units_for_address(lines: QuerySet[OrderLine]) -> QuerySet[Any]:
    """Add `for_address` to order lines: the number of refused units that wait for another address."""
    units = Least(F("rejected"), _RefusedForAddress(F("pk")))
    annotated: QuerySet[Any] = lines.annotate(for_address=Case(When(rejected__gt=0, then=units), default=0))
    return annotated

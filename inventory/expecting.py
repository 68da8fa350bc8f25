"""Restock dates: when a supplier expects new stock of a variant in a warehouse (contract 23).

A date is kept until stock arrives or another date replaces it. A row without a date stays, so that a pull
sees the change. `orders` registers a callback here, as in `arrivals`. The callback runs after the commit, for
the orders that wait for the stock. A periodic task repeats lost calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from django.db import connection
from psycopg.sql import SQL, Composable
from rest_framework.exceptions import ValidationError

from api import fields
from api.errors import InvalidDate
from catalog.snapshot import take_snapshot_after_commit
from fastdb.after_commit import call_after_commit

PAST = "Is in the past. Send today or a later day (UTC), or null to remove the date."
PAST_ON_PAGE = "This day is in the past. Enter today or later, or leave it empty."
"""The message of a form in a browser. PAST is the message of the API."""

ARRIVED = SQL("expected_at = NULL, is_announced = false, changed_in = change_number()")
"""SQL that removes the date of stock that has arrived. Orders that still wait get a notice."""

# Write the rows in the order of their keys, so that two pushes cannot deadlock.
EXPECT = SQL(
    """
    INSERT INTO inventory_expectedstock AS e (variant_id, warehouse_id, expected_at)
    SELECT * FROM {rows} AS given (variant, warehouse, day)
    WHERE day IS NOT NULL OR EXISTS (SELECT FROM inventory_expectedstock k
        WHERE k.variant_id = variant AND k.warehouse_id = warehouse AND k.expected_at IS NOT NULL)
    ORDER BY variant, warehouse
    ON CONFLICT (variant_id, warehouse_id) DO UPDATE
    SET expected_at = excluded.expected_at, is_announced = false, changed_in = change_number()
    WHERE e.expected_at IS DISTINCT FROM excluded.expected_at
    """
)
ARRAYS = SQL("unnest(%(variants)s::bigint[], %(warehouses)s::bigint[], %(days)s::date[])")

StockKey = tuple[int, int]
"""The ids of a variant and a warehouse, as in `inventory.reservations`, which imports this module."""

_registered: list[Callable[[], None]] = []


class ExpectedAt(fields.Date):
    """A field for a restock date. A past day is refused."""

    def to_internal_value(self, data: object) -> date:
        try:
            day = super().to_internal_value(data)
        except ValidationError as error:
            # Pass plain texts, because an ErrorDetail would keep its own code.
            raise ValidationError([*map(str, error.detail)], code=InvalidDate.code) from error
        if is_past(day):
            raise ValidationError(PAST, code=InvalidDate.code)
        return day


def is_past(day: date) -> bool:
    return day < datetime.now(UTC).date()


def refuse_past(day: date | None) -> None:
    """Raise InvalidDate for a day in the past."""
    if day is not None and is_past(day):
        raise InvalidDate.at("expected_at", PAST, InvalidDate.code)


def register(callback: Callable[[], None]) -> None:
    """Register a function to call when restock dates have changed."""
    _registered.append(callback)


def expect(dates: Mapping[StockKey, date | None]) -> None:
    """Store the restock dates of stock rows; None removes a date."""
    if dates:
        variants, warehouses = zip(*dates, strict=True)
        days = list(dates.values())
        expect_rows(ARRAYS, {"variants": list(variants), "warehouses": list(warehouses), "days": days})


def expect_rows(rows: Composable, params: Mapping[str, Any] | None = None) -> None:
    """Store restock dates from a SQL source with the variant, the warehouse and the day of each stock row."""
    with connection.cursor() as cursor:
        cursor.execute(EXPECT.format(rows=rows).as_string(cursor.cursor), params)
        changed = cursor.rowcount
    if changed:
        take_snapshot_after_commit()
        for callback in _registered:
            call_after_commit(callback)

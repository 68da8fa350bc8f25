"""Invariants after every test: counters agree with their sources, histories are legal.

More than a thousand tests run the same statements, so each statement is built and planned once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.models import F, Q, QuerySet

from events.models import Event
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.states import CANCELED, MISSING_SKU, MOVES, OUT_OF_STOCK, SHIPPED, State
from orders.models import Order, RetailerClock
from orders.reconciling.reconciling import differences

FINISHED = (SHIPPED, OUT_OF_STOCK, MISSING_SKU, CANCELED)
LEGAL = {(move.event, source, target) for move in MOVES for source in move.sources for target in move.targets}


def violations() -> list[str]:
    """Return a sentence for each inconsistency in the database."""
    with connection.execute_wrapper(_planned_once):
        if not _rows(_any_order):
            return [*_ledger()]
        return [
            *_ledger(),
            *_counters(),
            *_open_work(),
            *_asked_back(),
            *_histories(),
            *_stamps(),
        ]


_names: WeakKeyDictionary[Any, dict[tuple[str, str], str]] = WeakKeyDictionary()
"""The names of the prepared statements of each connection, by their text and parameters."""


def _planned_once(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Prepare a statement at its first use, so that PostgreSQL plans it once and keeps the plan."""
    if not sql.lstrip().startswith(("SELECT", "WITH")):
        return execute(sql, params, many, context)
    known = _names.setdefault(connection.connection, {})
    key = sql, repr(params)
    if key not in known:
        name = f"invariant_{len(known)}"
        execute(f"PREPARE {name} AS {context['cursor'].cursor.mogrify(sql, params)}", None, many, context)
        known[key] = name
    return execute(f"EXECUTE {known[key]}", None, many, context)


Rows = QuerySet[Any, tuple[Any, ...]]


def _rows(question: Callable[[], Rows]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(*_statement(question))
        return list(cursor.fetchall())


@cache
def _statement(question: Callable[[], Rows]) -> tuple[str, tuple[Any, ...]]:
    return question().query.sql_with_params()


def _any_order() -> Rows:
    return Order.objects.order_by().values_list("pk")[:1]


def _states() -> Rows:
    return Fulfillment.objects.values_list("pk", "state")


def _busy() -> Rows:
    is_open = Q(quantity__gt=F("shipped") + F("rejected") + F("canceled"))
    return FulfillmentLine.objects.filter(is_open).values_list("fulfillment_id")


def _asked() -> Rows:
    lines = FulfillmentLine.objects.filter(cancel_requested__gt=0).exclude(fulfillment__state=State.CANCELING)
    return lines.values_list("fulfillment_id")


def _moves() -> Rows:
    moves = Event.objects.exclude(to_state="").exclude(fulfillment_id=None).order_by("fulfillment_id", "id")
    return moves.values_list("fulfillment_id", "type", "from_state", "to_state")


def _clocks() -> Rows:
    return RetailerClock.objects.values_list("retailer_id", "last")


def _stamped() -> Rows:
    return Order.objects.values_list("pk", "retailer_id", "updated_at")


def _counters() -> Iterator[str]:
    """Yield values that differ from their sources. Skip time limits: tests shorten them without an event."""
    return (str(each) for each in differences() if each.check != "time limit")


LEDGER = """
    SELECT variant_id, warehouse_id, l.on_hand, l.reserved, m.on_hand, m.reserved
    FROM inventory_stocklevel l FULL JOIN (
        SELECT variant_id, warehouse_id, sum(on_hand_change) AS on_hand, sum(reserved_change) AS reserved
        FROM inventory_stockmovement GROUP BY 1, 2
    ) m USING (variant_id, warehouse_id)
    WHERE coalesce(l.on_hand, 0) <> coalesce(m.on_hand, 0)
        OR coalesce(l.reserved, 0) <> coalesce(m.reserved, 0)
"""
BALANCES = """
    SELECT id, kind FROM (
        SELECT *, sum(on_hand_change) OVER stock AS all_on_hand,
            sum(reserved_change) OVER stock AS all_reserved
        FROM inventory_stockmovement WINDOW stock AS (PARTITION BY variant_id, warehouse_id ORDER BY id)
    ) m WHERE (on_hand, reserved) <> (all_on_hand, all_reserved)
"""


def _ledger() -> Iterator[str]:
    """Yield each stock level and each movement whose numbers are not the sum of the movements so far."""
    with connection.cursor() as cursor:
        cursor.execute(LEDGER)
        for variant, warehouse, *numbers in cursor.fetchall():
            yield f"stock of {variant} at {warehouse}: level and movements say {numbers}"
        cursor.execute(BALANCES)
        for pk, kind in cursor.fetchall():
            yield f"movement {pk} ({kind}) differs from the sum of the movements up to it"


def _open_work() -> Iterator[str]:
    """Yield each fulfillment with open units in a finished state, or without open units in another state."""
    busy = {pk for (pk,) in _rows(_busy)}
    for pk, state in _rows(_states):
        if (pk in busy) == (state in FINISHED):
            yield f"fulfillment {pk} is {state}, and has {'open units' if pk in busy else 'no open unit'}"


def _asked_back() -> Iterator[str]:
    for (pk,) in _rows(_asked):
        yield f"fulfillment {pk} has a cancellation request, and is not canceling"


def _histories() -> Iterator[str]:
    """Yield each fulfillment whose events do not lead by allowed moves from new to its current state."""
    ends = {}
    for pk, events in groupby(_rows(_moves), key=itemgetter(0)):
        state = str(State.NEW)
        for _, type_, before, after in events:
            if before != state or (type_, before, after) not in LEGAL:
                yield f"fulfillment {pk} was {state}: {type_} {before} → {after}"
            state = after
        ends[pk] = state
    for pk, state in _rows(_states):
        if ends.get(pk, State.NEW) != state:
            yield f"fulfillment {pk} is {state}, but its history ends in {ends.get(pk, State.NEW)}"


def _stamps() -> Iterator[str]:
    """Yield each order whose stamp is missing, after its retailer's clock, or not in whole milliseconds."""
    clocks = dict(_rows(_clocks))
    for pk, retailer, stamp in _rows(_stamped):
        if stamp is None or stamp > clocks[retailer]:
            yield f"order {pk} is stamped {stamp}, its clock says {clocks}"
        elif stamp.microsecond % 1000:
            yield f"order {pk} is stamped between two milliseconds: {stamp}"

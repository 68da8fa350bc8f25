"""Invariants after every test: counters agree with their sources, histories are legal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from django.db import connection
from django.db.models import F, Q

from events.models import Event
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.states import CANCELED, MISSING_SKU, MOVES, OUT_OF_STOCK, SHIPPED, State
from orders.models import Order, RetailerClock
from orders.reconciling.reconciling import differences

FINISHED = (SHIPPED, OUT_OF_STOCK, MISSING_SKU, CANCELED)
LEGAL = {(move.event, source, target) for move in MOVES for source in move.sources for target in move.targets}


def violations() -> list[str]:
    """Yield every inconsistency in the database."""
    if not Order.objects.exists():
        return [*_ledger()]
    return [*_ledger(), *map(str, differences()), *_open_work(), *_asked_back(), *_histories(), *_stamps()]


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
    """Each level is the sum of its movements, and each movement has the sum after it."""
    with connection.cursor() as cursor:
        cursor.execute(LEDGER)
        for variant, warehouse, *numbers in cursor.fetchall():
            yield f"stock of {variant} at {warehouse}: level and movements say {numbers}"
        cursor.execute(BALANCES)
        for pk, kind in cursor.fetchall():
            yield f"movement {pk} ({kind}) is not what the movements up to it add up to"


def _open_work() -> Iterator[str]:
    """Something is open in a fulfillment if, and only if, its state says that there is work."""
    is_open = Q(quantity__gt=F("shipped") + F("rejected") + F("canceled"))
    busy = set(FulfillmentLine.objects.filter(is_open).values_list("fulfillment_id", flat=True))
    for pk, state in Fulfillment.objects.values_list("pk", "state"):
        if (pk in busy) == (state in FINISHED):
            yield f"fulfillment {pk} is {state}, and {'something' if pk in busy else 'nothing'} of it is open"


def _asked_back() -> Iterator[str]:
    lines = FulfillmentLine.objects.filter(cancel_requested__gt=0).exclude(fulfillment__state=State.CANCELING)
    for line in lines.select_related("fulfillment"):
        yield f"{line.fulfillment} still counts pieces that are asked back"


def _histories() -> Iterator[str]:
    """Each fulfillment's events lead, by moves of the table, from new to the state that it is in."""
    moves = Event.objects.exclude(to_state="").exclude(fulfillment_id=None).order_by("fulfillment_id", "id")
    changes = moves.values_list("fulfillment_id", "type", "from_state", "to_state")
    ends = {}
    for pk, events in groupby(changes, key=itemgetter(0)):
        state = str(State.NEW)
        for _, type_, before, after in events:
            if before != state or (type_, before, after) not in LEGAL:
                yield f"fulfillment {pk} was {state}: {type_} {before} → {after}"
            state = after
        ends[pk] = state
    for pk, state in Fulfillment.objects.values_list("pk", "state"):
        if ends.get(pk, State.NEW) != state:
            yield f"fulfillment {pk} is {state}, but its history ends in {ends.get(pk, State.NEW)}"


def _stamps() -> Iterator[str]:
    """Each order has a stamp in whole milliseconds, not later than its retailer's clock."""
    clocks = dict(RetailerClock.objects.values_list("retailer_id", "last"))
    for pk, retailer, stamp in Order.objects.values_list("pk", "retailer_id", "updated_at"):
        if stamp is None or stamp > clocks[retailer]:
            yield f"order {pk} is stamped {stamp}, its clock says {clocks}"
        elif stamp.microsecond % 1000:
            yield f"order {pk} is stamped between two milliseconds: {stamp}"

"""Stock after counts in any order, with parcels, returns and refusals, compared with a separate model."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.actors import Actor
from inventory.elements import IdType
from inventory.models import StockLevel, Warehouse
from inventory.reservations import Cause, LockedStock
from inventory.services import push
from tests.orders.invariants import violations

BY = Actor.system("test")
VERBS = ["count", "count", "ship", "ship", "return_", "refuse"]
steps = st.tuples(st.sampled_from(VERBS), st.integers(1, 5), st.integers(0, 9))


class Model:
    """A model of the stock on hand, written from the contract alone."""

    def __init__(self) -> None:
        self.on_hand = 0
        self.counted_at: datetime | None = None
        self.moved: list[tuple[datetime, int]] = []

    def count(self, amount: int, as_of: datetime) -> bool:
        if self.counted_at is not None and as_of < self.counted_at:
            return False
        since = sum(units for moment, units in self.moved if moment > as_of)
        self.on_hand, self.counted_at = max(amount + since, 0), as_of
        return True

    def move(self, units: int, moment: datetime) -> None:
        self.moved.append((moment, units))
        self.on_hand = max(self.on_hand + units, 0)

    def refuse(self, moment: datetime | None) -> None:
        self.on_hand, self.counted_at = 0, moment


def now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP")


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(scenario=st.lists(steps, min_size=3, max_size=15))
def test_counts_come_in_any_order(acme, lamp, scenario):
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    key = (lamp.pk, east.pk)
    with transaction.atomic():
        model, moments = Model(), [now()]
        assert push(east, IdType.SKU, [{"id": "LAMP", "amount": 5}], as_of=moments[0], by=BY).updated
        model.count(5, moments[0])
        for verb, units, back in scenario:
            moment = moments[-1 - back % len(moments)]
            if verb == "count":
                elements = [{"id": "LAMP", "amount": units}]
                stale = push(east, IdType.SKU, elements, as_of=moment, by=BY).errors
                assert model.count(units, moment) == (not stale), (verb, units, moment)
            else:
                stock = LockedStock.lock([lamp.pk], by=BY)
                getattr(stock, verb)(*((key, Cause()) if verb == "refuse" else (key, units, Cause())))
                stock.save()
                happened = now()
                if verb == "refuse":
                    model.refuse(StockLevel.objects.get().counted_at)
                else:
                    model.move(-units if verb == "ship" else units, happened)
            assert StockLevel.objects.get().on_hand == model.on_hand, (verb, units, moment)
            moments.append(now())
        assert violations() == []
        transaction.set_rollback(True)

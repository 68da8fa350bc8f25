"""The conditions on fulfillments that lists, indexes and pages share."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Case, Q, Value, When
from django.db.models.functions import Coalesce, Least, Now

from api.amounts import NO_AMOUNT
from fulfillments.states import WORKABLE, State

OPEN_WORK = Q(state__in=[*WORKABLE, State.CANCELING])
# Suppliers cannot see these fulfillments of held orders. They still see fulfillments in all other states.
HELD = Q(state__in=WORKABLE, order__held=True)
AMOUNT_TO_SORT = Coalesce("agreed_total", Value(NO_AMOUNT))
UNCAPTURED = Q(state=State.NEW, capture=None)
CAPTURE_OVERDUE = UNCAPTURED & Q(capture_due_at__lte=Now())


def limit_passed(until: datetime | Now, *, after: datetime | None = None) -> Q:
    """Return the condition that a time limit passed by `until` and, if given, later than `after`."""

    def ended(limit: str) -> Q:
        since = Q() if after is None else Q(**{f"{limit}__gt": after})
        return since & Q(**{f"{limit}__lte": until})

    return ended("due_at") | (ended("capture_due_at") & UNCAPTURED)


PAST_LIMIT = limit_passed(Now())
"""The condition that a time limit has passed. Only `FulfillmentQuerySet.overdue` leaves out held orders."""


def next_limit(of: str = "") -> Least:
    """Return the moment of `Fulfillment.next_due_at`, to sort by it. `of` is the path to the fulfillment."""
    uncaptured = Q(**{f"{of}state": State.NEW, f"{of}capture": None})
    return Least(f"{of}due_at", Case(When(uncaptured, then=f"{of}capture_due_at")))

"""The conditions on fulfillments that lists, indexes and pages share."""

from __future__ import annotations

from django.db.models import Q, Value
from django.db.models.functions import Coalesce, Now

from api.amounts import NO_AMOUNT
from fulfillments.states import WORKABLE, State

OPEN_WORK = Q(state__in=[*WORKABLE, State.CANCELING])
# Suppliers cannot see these fulfillments of held orders. They still see fulfillments in all other states.
HELD = Q(state__in=WORKABLE, order__held=True)
AMOUNT_TO_SORT = Coalesce("agreed_total", Value(NO_AMOUNT))

PAST_LIMIT = Q(due_at__lte=Now()) | Q(capture_due_at__lte=Now(), state=State.NEW, capture=None)
"""The condition that a time limit has passed. Only `FulfillmentQuerySet.overdue` leaves out held orders."""

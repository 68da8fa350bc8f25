"""The conditions on fulfillments that lists, indexes and pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce, Now

from accounts.models import CancelationDefault, Supplier
from api.amounts import NO_AMOUNT
from fulfillments.states import WORKABLE, State

if TYPE_CHECKING:
    from fulfillments.models.fulfillment import Fulfillment  # noqa: F401  (the base of the class names it)

OPEN_WORK = Q(state__in=[*WORKABLE, State.CANCELING])
# Suppliers cannot see these fulfillments of held orders. They still see fulfillments in all other states.
HELD = Q(state__in=WORKABLE, order__held=True)
AMOUNT_TO_SORT = Coalesce("agreed_total", Value(NO_AMOUNT))

PAST_LIMIT = Q(due_at__lte=Now()) | Q(capture_due_at__lte=Now(), state=State.NEW, capture=None)
"""The condition that a time limit has passed. Only `FulfillmentQuerySet.overdue` leaves out held orders."""


class FulfillmentQuerySet(models.QuerySet["Fulfillment"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def not_held(self) -> Self:
        """Leave out the work of orders that operators hold."""
        return self.exclude(HELD)

    def overdue(self) -> Self:
        """Keep fulfillments past a time limit to capture, accept, ship or answer. Leave out held orders."""
        return self.filter(PAST_LIMIT).not_held()

    def with_unanswered_cancelation(self) -> Self:
        """Keep fulfillments with an overdue cancellation request, if the partnership has a default answer."""
        waiting = Q(partnership__cancelation_default=CancelationDefault.WAIT)
        return self.filter(~waiting, state=State.CANCELING, due_at__lte=Now())

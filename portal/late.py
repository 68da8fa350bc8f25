"""Late work: a supplier's time limit to capture, accept, ship or answer has passed."""

from __future__ import annotations

from django.db.models import Q

from fulfillments.models import PAST_LIMIT, Fulfillment
from fulfillments.states import WORKABLE, State

TO_ANSWER = (*WORKABLE, State.CANCELING)
"""The states in which the supplier has something to do."""
LATE = PAST_LIMIT & Q(state__in=TO_ANSWER)


def is_late(fulfillment: Fulfillment) -> bool:
    return fulfillment.state in TO_ANSWER and fulfillment.is_overdue

"""Late work: a supplier's time limit to accept, ship or answer has passed."""

from __future__ import annotations

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from fulfillments.models import Fulfillment
from fulfillments.states import WORKABLE, State

TO_ANSWER = (*WORKABLE, State.CANCELING)
"""The states in which the supplier has something to do."""
LATE = Q(state__in=TO_ANSWER, due_at__lte=Now())


def is_late(fulfillment: Fulfillment) -> bool:
    due = fulfillment.due_at
    return due is not None and due <= timezone.now() and fulfillment.state in TO_ANSWER

from __future__ import annotations

from api.filters import StrictFilterSet, choice_filter
from events.states import DeliveryStatus


class DeliveryFilter(StrictFilterSet):
    status = choice_filter(DeliveryStatus.values)

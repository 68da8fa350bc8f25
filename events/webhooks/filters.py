from __future__ import annotations

import django_filters

from api.filters import StrictFilterSet
from events.states import DeliveryStatus


class DeliveryFilter(StrictFilterSet):
    """Filters of the list of deliveries."""

    status = django_filters.ChoiceFilter(choices=DeliveryStatus.choices)

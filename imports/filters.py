from __future__ import annotations

import django_filters

from api.filters import StrictFilterSet
from imports.models import Kind, Status


class ImportFilter(StrictFilterSet):
    """Filters of the list of imports."""

    kind = django_filters.ChoiceFilter(choices=Kind.choices)
    status = django_filters.ChoiceFilter(choices=Status.choices)

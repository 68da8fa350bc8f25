from __future__ import annotations

from api.filters import StrictFilterSet, choice_filter
from imports.models import Status
from imports.models.kind import names


class ImportFilter(StrictFilterSet):
    kind = choice_filter(names())
    status = choice_filter(Status.values)

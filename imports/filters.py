from __future__ import annotations

from api.filters import StrictFilterSet, choice_filter
from imports.models import Kind, Status


class ImportFilter(StrictFilterSet):
    kind = choice_filter(Kind.values)
    status = choice_filter(Status.values)

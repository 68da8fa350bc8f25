"""Case-insensitive search inside texts, by a trigram index over `folded(field)`."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db.models import Case, Model, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Lower
from django.db.models.lookups import Contains

from api.prefix_search import beginning_with, begins, folded

M = TypeVar("M", bound=Model)

LEAST = 3
"""Shorter terms have no trigram. They find beginnings only."""


def trigrams(text: str | Combinable, name: str) -> GinIndex:
    """Return the index that `contains` needs."""
    return GinIndex(OpClass(folded(text), name="gin_trgm_ops"), name=name)


def contains(text: str | Combinable, term: str) -> Q:
    """Make the condition that a text contains `term`."""
    return Q(Contains(folded(text), Lower(Value(term))))


def found_in(rows: QuerySet[M], text: str | Combinable, term: str, most: int) -> QuerySet[M]:
    """Return up to `most` rows whose text begins with `term`, then up to `most` others that contain it.

    Takes one query. Both parts are in the order of the index of beginnings: if many rows contain a term,
    PostgreSQL soon finds enough of them there. Few rows come from the trigram index.
    """
    begun = beginning_with(rows, text, term)[:most]
    if len(term) < LEAST:
        return begun
    inside = rows.filter(contains(text, term)).order_by(folded(text))[:most]
    found = begun.values("pk").union(inside.values("pk"), all=True)
    begins_first = Case(When(begins(text, term), then=0), default=1)
    return rows.filter(pk__in=found).order_by(begins_first, folded(text))

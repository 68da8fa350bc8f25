"""Case-insensitive search inside texts, by a trigram index over `folded(field)` of `api.prefix_search`."""

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
"""The minimum length of a term with trigrams. A shorter term finds only texts that begin with the term."""


def trigrams(text: str | Combinable, name: str) -> GinIndex:
    """Return the index that `contains` needs."""
    return GinIndex(OpClass(folded(text), name="gin_trgm_ops"), name=name)


def contains(text: str | Combinable, term: str) -> Q:
    """Make the condition that a text contains `term`."""
    return Q(Contains(folded(text), Lower(Value(term))))


def found_in(rows: QuerySet[M], text: str | Combinable, term: str, most: int) -> QuerySet[M]:
    """Return up to `most` rows whose text begins with `term`, then up to `most` rows that only contain it.

    The result is a single query. Each of the two groups is sorted by the folded text, in the order of the
    prefix index. If many rows contain the term, PostgreSQL reads the prefix index and soon has enough rows.
    If few rows contain the term, PostgreSQL uses the trigram index.
    """
    begun = beginning_with(rows, text, term)[:most]
    if len(term) < LEAST:
        return begun
    inside = rows.filter(contains(text, term)).order_by(folded(text))[:most]
    found = begun.values("pk").union(inside.values("pk"), all=True)
    begins_first = Case(When(begins(text, term), then=0), default=1)
    return rows.filter(pk__in=found).order_by(begins_first, folded(text))

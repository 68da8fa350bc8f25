"""Case-insensitive prefix search: one range of an index over `folded(field)`."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import F, Func, Model, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Collate, Concat, Left, Lower
from django.db.models.lookups import GreaterThanOrEqual, LessThan

M = TypeVar("M", bound=Model)

# Only in byte order is a prefix one range of the index, so the collation is fixed.
COLLATION = "C"
# The last character of Unicode: no text that begins with the prefix sorts after prefix + LAST.
LAST = "\U0010ffff"
LONGEST_NAME = 100


def folded(text: str | Combinable) -> Collate:
    """Return a text in lower case, as indexes and searches use it."""
    return Collate(Lower(text), COLLATION)


def file_name(path: str) -> Left:
    """Return the part of a path after the last slash."""
    return Left(Func(F(path), Value("^.*/"), Value(""), function="regexp_replace"), LONGEST_NAME)


def bounds(term: str) -> tuple[Lower, Concat]:
    """Return the first text with the prefix `term`, and the end of the range."""
    first = Lower(Value(term))
    return first, Concat(first, Value(LAST))


def begins(text: str | Combinable, term: str) -> Q:
    """Make the condition that a text begins with `term`."""
    first, end = bounds(term)
    return Q(GreaterThanOrEqual(folded(text), first), LessThan(folded(text), end))


def beginning_with(rows: QuerySet[M], text: str | Combinable, term: str) -> QuerySet[M]:
    """Return the rows whose text begins with `term`, sorted by text."""
    return rows.filter(begins(text, term)).order_by(folded(text))

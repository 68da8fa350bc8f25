"""Texts that are found by how they begin, in any case: one range of an index over `folded(field)`."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import F, Func, Model, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Collate, Concat, Left, Lower
from django.db.models.lookups import GreaterThanOrEqual, LessThan

M = TypeVar("M", bound=Model)

# By bytes, whatever the database's own collation is: only so a beginning is a range of the index.
COLLATION = "C"
# No text goes on with more than the last of all characters.
LAST = "\U0010ffff"
LONGEST_NAME = 100


def folded(text: str | Combinable) -> Collate:
    """A text without its case, as indexes keep it and searches ask for it."""
    return Collate(Lower(text), COLLATION)


def file_name(path: str) -> Left:
    """What stands behind the last slash of a path."""
    return Left(Func(F(path), Value("^.*/"), Value(""), function="regexp_replace"), LONGEST_NAME)


def bounds(term: str) -> tuple[Lower, Concat]:
    """The first text that begins like that, and the end of those that do."""
    first = Lower(Value(term))
    return first, Concat(first, Value(LAST))


def begins(text: str | Combinable, term: str) -> Q:
    """Whether a text begins like that."""
    first, end = bounds(term)
    return Q(GreaterThanOrEqual(folded(text), first), LessThan(folded(text), end))


def beginning_with(rows: QuerySet[M], text: str | Combinable, term: str) -> QuerySet[M]:
    """Those rows whose text begins like that, in the order of their texts."""
    return rows.filter(begins(text, term)).order_by(folded(text))

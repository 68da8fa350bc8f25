"""Case-insensitive prefix search, as one range of an index over `folded(field)`."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import F, Func, Model, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Collate, Concat, Left, Lower
from django.db.models.lookups import GreaterThanOrEqual, LessThan

M = TypeVar("M", bound=Model)

# The collation is fixed: texts with the same prefix form one range of the index only in byte order.
COLLATION = "C"
# The last character of Unicode. All texts that begin with a prefix sort before prefix + LAST.
LAST = "\U0010ffff"
LONGEST_NAME = 100


def folded(text: str | Combinable) -> Collate:
    """Return a text in lower case and byte order, the form that indexes and searches compare."""
    return Collate(Lower(text), COLLATION)


def file_name(path: str) -> Left:
    """Return the part of a path after the last slash."""
    return Left(Func(F(path), Value("^.*/"), Value(""), function="regexp_replace"), LONGEST_NAME)


def bounds(term: str) -> tuple[Lower, Concat]:
    """Return the lower and the upper bound of the texts with the prefix `term`."""
    first = Lower(Value(term))
    return first, Concat(first, Value(LAST))


def begins(text: str | Combinable, term: str) -> Q:
    """Make the condition that a text begins with `term`."""
    first, end = bounds(term)
    return Q(GreaterThanOrEqual(folded(text), first), LessThan(folded(text), end))


def begins_with_digits(field: str, digits: str) -> Q:
    """Make the condition that a text of digits begins with `digits`, for a plain index of the field.

    The bounds contain only digits, because only digits have the same order in every collation.
    """
    condition = Q(**{f"{field}__gte": digits})
    if stem := digits.rstrip("9"):
        condition &= Q(**{f"{field}__lt": stem[:-1] + str(int(stem[-1]) + 1)})
    return condition


def beginning_with(rows: QuerySet[M], text: str | Combinable, term: str) -> QuerySet[M]:
    """Return the rows whose text begins with `term`, sorted by text."""
    return rows.filter(begins(text, term)).order_by(folded(text))

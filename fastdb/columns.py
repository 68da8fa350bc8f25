"""Types of row fields that define how a column is read: `Json`, `Number`, `Day` and `Moment`.

Row classes are in `fastdb.rows`. These types skip Django's own conversion of each value, which would take a
third of the time of a page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, TypeVar

import msgspec
from django.db.models import Expression, TextField
from django.db.models.functions import Cast

from api.renderers import iso, number

T = TypeVar("T")
_decode = msgspec.json.Decoder().decode


def text_of(column: str) -> Cast:
    """Return the expression that selects a JSON column as text."""
    return Cast(column, TextField())


def parsed(text: str) -> Any:
    """Parse the text of a JSON column."""
    # Most lists are empty, and this comparison is cheaper than the decoder.
    return [] if text == "[]" else _decode(text)


@dataclass(frozen=True)
class Column:
    """The way to select a column (`ask`) and to convert its value (`read`); null stays null."""

    ask: Callable[[str], Expression] | None = None
    read: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Through:
    """A mark for a field that reads the column of the same name in a related model."""

    relation: str


Json = Annotated[T, Column(text_of, parsed)]
Number = Annotated[Decimal, Column(read=number)]
Day = Annotated[str, Column(read=date.isoformat)]
Moment = Annotated[str, Column(read=iso)]

"""Columns as answers show them: what Django makes of each value would take a third of a page's time.

The types `Json`, `Number`, `Day` and `Moment` say how a field of a row is read (`fastdb.rows`).
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
    """A JSON column as the text of its value."""
    return Cast(column, TextField())


def parsed(text: str) -> Any:
    """The value of such a text; most lists are empty."""
    return [] if text == "[]" else _decode(text)


@dataclass(frozen=True)
class Column:
    """How a column is asked for, and what is made of its value; null stays null."""

    ask: Callable[[str], Expression] | None = None
    read: Callable[[Any], Any] | None = None


Json = Annotated[T, Column(text_of, parsed)]
Number = Annotated[Decimal, Column(read=number)]
Day = Annotated[str, Column(read=date.isoformat)]
Moment = Annotated[str, Column(read=iso)]

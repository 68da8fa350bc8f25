"""Columns as pages read them: what Django makes of each value would take a third of a page's time."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db.models import Field, Func, TextField
from django.db.models.functions import Cast

_decode = msgspec.json.Decoder().decode


def text_of(column: str) -> Cast:
    """A JSON column as the text of its value."""
    return Cast(column, TextField())


def number_of(column: str) -> Func:
    """A decimal column without the zeros that pad it, as `api.renderers.number` makes it."""
    # Of no special kind, because Django would make a second Decimal of each.
    return Func(column, function="trim_scale", output_field=Field())


def parsed(text: str) -> Any:
    """The value that such a text tells; most lists are empty."""
    return [] if text == "[]" else _decode(text)

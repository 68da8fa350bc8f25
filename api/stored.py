"""JSON columns read as text, which is parsed here: Django's own way takes a quarter of a page's time."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db.models import TextField
from django.db.models.functions import Cast

_decode = msgspec.json.Decoder().decode


def text_of(column: str) -> Cast:
    """A JSON column as the text of its value."""
    return Cast(column, TextField())


def parsed(text: str) -> Any:
    """The value that such a text tells; most lists are empty."""
    return [] if text == "[]" else _decode(text)

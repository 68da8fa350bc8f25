"""The known name that a misspelt one is closest to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEARLY = 0.85


def closest_match(name: str, known: Iterable[str], *, likeness: float = NEARLY) -> str | None:
    """The known name most like this one, whatever its case; None where none is like it."""
    return next(iter(difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=likeness)), None)

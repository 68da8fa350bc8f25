"""What somebody meant who wrote a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEARLY = 0.85


def meant(name: str, known: Iterable[str], *, likeness: float = NEARLY) -> str | None:
    """The known name that this one is nearly, in any case; None where it is like none of them."""
    return next(iter(difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=likeness)), None)

"""The known name that a misspelt one is closest to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEARLY = 0.85


def closest_match(name: str, known: Iterable[str], *, likeness: float = NEARLY) -> str | None:
    """The known name most like this one, whatever its case; None where none is like it.

    One with the same letters in another order is, however short.
    """
    known, letters = list(known), sorted(name.lower())
    swapped = next((each for each in known if sorted(each) == letters), None)
    if swapped is not None:
        return swapped
    # Names are alike by twice what they share, over both lengths: most need no closer look.
    least, most = len(name) * likeness / (2 - likeness), len(name) * (2 - likeness) / likeness
    near = [each for each in known if least <= len(each) <= most]
    found = difflib.get_close_matches(name.lower(), near, n=1, cutoff=likeness) if near else []
    return next(iter(found), None)

"""The known name that a misspelt one is closest to, and the path that is meant by another one."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.urls import Resolver404, get_resolver, resolve

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


def known_path(path: str) -> str | None:
    """The path of the API that is meant by one with doubled slashes, or in other letters; None if none is."""
    words = _words_of_paths(settings.ROOT_URLCONF)
    proper = "/" + "/".join(words.get(each.lower(), each) for each in path.split("/") if each)
    if proper == path or not proper.startswith("/v3/"):
        return None
    try:
        resolve(proper)
    except Resolver404:
        return None
    return proper


@functools.cache
def _words_of_paths(urlconf: str) -> dict[str, str]:
    """The fixed words of the API's paths, by how they are written in lower case."""
    routes = [each for each in _routes(get_resolver(urlconf).url_patterns) if each.startswith("v3/")]
    words = {word for route in routes for word in route.split("/") if word and "<" not in word}
    return {word.lower(): word for word in words}


def _routes(patterns: Iterable[Any], before: str = "") -> Iterator[str]:
    for each in patterns:
        route = before + str(each.pattern)
        yield from _routes(each.url_patterns, route) if hasattr(each, "url_patterns") else [route]

"""Suggestions for misspelled names and paths."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.urls import Resolver404, get_resolver, resolve

NEARLY = 0.85


def closest_match(name: str, known: Iterable[str], *, likeness: float = NEARLY) -> str | None:
    """Return the most similar known name, ignoring case, or None.

    A known name with the same letters in another order always matches, even a short one.
    """
    known, letters = list(known), sorted(name.lower())
    swapped = next((candidate for candidate in known if sorted(candidate) == letters), None)
    if swapped is not None:
        return swapped
    # Similarity is twice the shared letters over the sum of lengths, so the length rules most names out.
    least, most = len(name) * likeness / (2 - likeness), len(name) * (2 - likeness) / likeness
    near = [candidate for candidate in known if least <= len(candidate) <= most]
    matches = difflib.get_close_matches(name.lower(), near, n=1, cutoff=likeness) if near else []
    return next(iter(matches), None)


def known_path(path: str) -> str | None:
    """Return the API path that differs from `path` only in doubled slashes or letter case, or None."""
    words = _words_of_paths(settings.ROOT_URLCONF)
    proper = "/" + "/".join(words.get(part.lower(), part) for part in path.split("/") if part)
    if proper == path or not proper.startswith("/v3/"):
        return None
    try:
        resolve(proper)
    except Resolver404:
        return None
    return proper


@functools.cache
def _words_of_paths(urlconf: str) -> dict[str, str]:
    """Return the fixed words of the API's paths, keyed by their lower case."""
    routes = [route for route in _routes(get_resolver(urlconf).url_patterns) if route.startswith("v3/")]
    words = {word for route in routes for word in route.split("/") if word and "<" not in word}
    return {word.lower(): word for word in words}


def _routes(patterns: Iterable[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        yield from _routes(pattern.url_patterns, route) if hasattr(pattern, "url_patterns") else [route]

"""Suggestions for misspelled names and paths."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.urls import Resolver404, get_resolver, resolve

NEARLY, SAME_WORD = 0.85, 0.95
MOST_WORDS = 12
LIST_OF_PATHS = "/v3/docs lists the paths."


def closest_match(name: str, known: Iterable[str], *, likeness: float = NEARLY) -> str | None:
    """Return the known name that is most similar to `name` in lower case, or None.

    A known name with the same letters in another order always matches, even a short name.
    """
    known, letters = list(known), sorted(name.lower())
    swapped = next((candidate for candidate in known if sorted(candidate) == letters), None)
    if swapped is not None:
        return swapped
    # Compare lengths first, which is fast and excludes most names. The bounds follow from difflib's ratio:
    # twice the number of shared letters, divided by the sum of both lengths.
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


def path_hint(path: str) -> str:
    """Return a hint about an unknown path: a similar path, the possible next words, or the list of paths."""
    if known := known_path(path):
        return f"Did you mean {known}?"
    parts = [part for part in path.split("/") if part]
    routes = _api_routes(settings.ROOT_URLCONF)
    for position, part in enumerate(parts):
        reached = [route for route in routes if len(route) > position]
        fitting = [route for route in reached if _fits(part, route[position])]
        if not fitting:
            words = sorted({route[position] for route in reached if "<" not in route[position]})
            return _next_words(parts, position, words)
        routes = fitting
    longer = {_shown(route[len(parts)]) for route in routes if len(route) > len(parts)}
    return _next_words([*parts, ""], len(parts), sorted(longer))


def _shown(step: str) -> str:
    """Return a segment of a path as the documents write it: `<id:shipment_id>` becomes `{shipment_id}`."""
    return "{" + step.strip("<>").partition(":")[2] + "}" if "<" in step else step


def _fits(part: str, step: str) -> bool:
    return part.isdigit() if step.startswith("<id") else "<" in step or part == step


def _next_words(parts: list[str], position: int, words: list[str]) -> str:
    before = "".join(f"/{part}" for part in parts[:position])
    if near := closest_match(parts[position], words):
        return f"Did you mean {'/'.join([before, near, *parts[position + 1 :]])}?"
    if before and 0 < len(words) <= MOST_WORDS:
        return f"Known after {before}/: {', '.join(_without_other_spellings(words))}."
    return LIST_OF_PATHS


def _without_other_spellings(words: list[str]) -> list[str]:
    """Leave out words that contain a space, and words that are another spelling of an earlier word."""
    kept: list[str] = []
    for word in words:
        if " " not in word and not closest_match(word, kept, likeness=SAME_WORD):
            kept.append(word)
    return kept


@functools.cache
def _words_of_paths(urlconf: str) -> dict[str, str]:
    """Return the fixed words of the API's paths, keyed by their lower case."""
    words = {word for route in _api_routes(urlconf) for word in route if word and "<" not in word}
    return {word.lower(): word for word in words}


@functools.cache
def _api_routes(urlconf: str) -> list[list[str]]:
    """Return the paths of the API, each split at its slashes."""
    routes = _routes(get_resolver(urlconf).url_patterns)
    return [route.split("/") for route in routes if route.startswith("v3/")]


def _routes(patterns: Iterable[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        yield from _routes(pattern.url_patterns, route) if hasattr(pattern, "url_patterns") else [route]

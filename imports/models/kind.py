"""The names of the registered import kinds, for the model fields that store a name. See `imports.kinds`."""

from __future__ import annotations

_areas: dict[str, str] = {}


def add_name(name: str, area: str) -> None:
    """Add the name of a kind, and the area of the scopes that cover it."""
    _areas[name] = area


def names() -> list[str]:
    return [*_areas]


def choices() -> list[tuple[str, str]]:
    """Return the names with their labels. Model fields call this, so that a new kind needs no migration."""
    return [(name, name.capitalize()) for name in _areas]


def area_of(name: str) -> str:
    """Return the area of the events and scopes of a kind, such as `catalog`."""
    return _areas[name]

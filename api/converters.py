"""Converters for ids in URL paths."""

from __future__ import annotations


class IdConverter:
    """An object's id. Text that cannot be an id becomes 0, which no object has, so the answer is a 404."""

    regex = "[^/]+"

    def to_python(self, value: str) -> int:
        plain = value.isascii() and value.isdigit() and len(value) <= 18 and not value.startswith("0")
        return int(value) if plain else 0

    def to_url(self, value: object) -> str:
        return str(value)

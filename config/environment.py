"""The reader of environment variables. Its errors name the variable."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TypeVar

from environs import Env, validate

from api.wrong_settings import named

T = TypeVar("T")
MOST_DAYS = 36_500
"""100 years. Far larger numbers would lead to dates before the year 1, and tasks would fail."""


class Environment(Env):
    """Environment variables, with readers for kinds of values that `Env` cannot read."""

    def parsed(self, name: builtins.str, default: builtins.str, parse: Callable[[builtins.str], T]) -> T:
        """Return the value that `parse` makes of a text. Raises ImproperlyConfigured if `parse` fails."""
        with named(name):
            return parse(self.str(name, default))

    def texts(self, name: builtins.str, default: builtins.str = "") -> builtins.list[builtins.str]:
        """Return the texts between commas, without the blanks around them."""
        return self.parsed(name, default, _texts)

    def days(
        self, name: builtins.str, default: builtins.int, *, least: builtins.int | None = None
    ) -> builtins.int:
        """Return a number of days."""
        return self.int(name, default, validate=validate.Range(min=least, max=MOST_DAYS))

    def at_least_one(self, name: builtins.str, default: builtins.int) -> builtins.int:
        return self.int(name, default, validate=validate.Range(min=1))

    def networks(
        self, name: builtins.str, default: builtins.str, parse: Callable[[builtins.str], T]
    ) -> builtins.list[T]:
        """Return the networks between commas, as `parse` reads them. Raises ImproperlyConfigured."""
        return self.parsed(name, default, lambda text: [*map(parse, _texts(text))])


def _texts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def web_address(text: str) -> str:
    """Return an address to which paths can be appended. Raises ValueError."""
    if not text.startswith(("http://", "https://")):
        raise ValueError(f"{text!r} does not begin with http:// or https://")
    return text.rstrip("/")


def host_names(text: str) -> list[str]:
    """Return names of hosts. Raises ValueError for a URL."""
    names = _texts(text)
    if wrong := next((name for name in names if "/" in name), None):
        raise ValueError(f"{wrong!r} must be the name of a host, such as exchange.example, without https://")
    return names


def row_limits(text: str) -> dict[str, int]:
    """Return the number of rows by group. Raises ValueError."""
    pairs = [part.rpartition("=") for part in _texts(text)]
    if not all(group and rows.strip().isdecimal() for group, _, rows in pairs):
        raise ValueError(f"{text!r} must read GROUP=ROWS,GROUP=ROWS, such as Order desk=500")
    return {group.strip(): int(rows) for group, _, rows in pairs}

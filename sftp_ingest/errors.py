"""What an upload area refuses, with a sentence that says why."""

from __future__ import annotations


class Refused(ValueError):
    """The area does not do that."""


class Missing(Refused):
    """There is nothing under that name."""


class Forbidden(Refused):
    """It is there, but may not be changed or read in this way."""

"""What an upload area does not do, and why: a sentence for whoever asked."""

from __future__ import annotations


class Refused(ValueError):
    """Not here, not like this."""


class Missing(Refused):
    """There is nothing under that name."""


class Forbidden(Refused):
    """That is there, and not to be touched in this way."""

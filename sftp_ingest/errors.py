"""What an upload area refuses, with a sentence that says why."""

from __future__ import annotations

from errno import EIO


class Refused(ValueError):
    """The area does not do that."""


class Missing(Refused):
    """There is nothing under that name."""


class Forbidden(Refused):
    """It is there, but may not be changed or read in this way."""


class StorageAway(OSError):
    """The storage of uploads does not do what it is asked for; its cause says more, for operators."""

    def __init__(self) -> None:
        super().__init__(EIO, "The storage of uploads does not answer just now. Try again in a minute.")

"""Refusals of an upload area. The message of each is a sentence for the client."""

from __future__ import annotations

from errno import EIO


class Refused(ValueError):
    """The upload area refuses a command."""


class Missing(Refused):
    """The named file or folder does not exist."""


class NotAllowed(Refused):
    """The named file or folder exists, but the client may not change or read it in this way."""


class StorageAway(OSError):
    """The storage of uploads failed. The exception's cause has the details for operators."""

    def __init__(self) -> None:
        super().__init__(EIO, "The storage of uploads does not answer at the moment. Try again in a minute.")

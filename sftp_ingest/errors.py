"""The errors of upload areas. Each message is a sentence for the client."""

from __future__ import annotations

from errno import EIO


class Refused(ValueError):
    """The error for a command that the upload area refuses."""


class Missing(Refused):
    """The error for a file or folder that does not exist."""


class NotAllowed(Refused):
    """The error for a file or folder that the client may not change or read in this way."""


class StorageAway(OSError):
    """The error for a failure of the uploads' storage. Its cause has the details for operators."""

    def __init__(self) -> None:
        super().__init__(EIO, "The storage of uploads does not answer at the moment. Try again in a minute.")

"""Exceptions that end an import early."""

from __future__ import annotations


class Unreadable(Exception):
    """The file as a whole cannot be imported; becomes the job's error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Canceled(Exception):
    """A person asked to cancel the job."""

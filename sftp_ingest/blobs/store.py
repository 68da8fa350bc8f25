"""What a store of blobs can do. A blob is content under a number, which never changes once it is complete."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

State = dict[str, Any]


class CannotGoOn(Exception):
    """What came of a blob cannot be taken up at that byte."""


@dataclass(frozen=True)
class Kept:
    """How much of an unfinished blob outlives this process, and what its store must know to go on with it."""

    size: int = 0
    state: State | None = None


@dataclass(frozen=True)
class Found:
    """Something in a store, of a blob that may have no row any more."""

    number: int
    changed_at: float  # seconds since 1970


class Reader(ABC):
    """A blob being read; of any thread, by one at a time."""

    @abstractmethod
    def read(self, offset: int, length: int) -> bytes:
        """That many bytes from there, fewer only at the end. Raises OSError."""

    @abstractmethod
    def close(self) -> None:
        """May be called twice."""


class Writer(ABC):
    """A blob being written, in pieces at any offset. Nobody reads it under its number before `complete`."""

    @abstractmethod
    def write(self, offset: int, data: bytes) -> None:
        """Raises OSError, CannotGoOn for what came by another process and cannot be changed any more."""

    @abstractmethod
    def reader(self) -> Reader:
        """For reading what came so far, also after the end of the writer."""

    @abstractmethod
    def cut_to(self, size: int) -> None:
        """Drop what is beyond that size. Raises OSError, CannotGoOn."""

    @abstractmethod
    def sync(self) -> None:
        """Let what came outlive this machine, as far as the store can before the end. Raises OSError."""

    @abstractmethod
    def checkpoint(self, whole_to: int) -> Kept:
        """Begin to keep the bytes up to there, and say what is kept by now. Raises OSError."""

    @abstractmethod
    def complete(self, size: int) -> None:
        """End it as a blob of that size, which can be read under its number. Raises OSError."""

    @abstractmethod
    def keep(self, size: int) -> Kept:
        """End it for now, as an unfinished blob of that size that another process may take up."""

    @abstractmethod
    def discard(self) -> None:
        """Forget all of it. May be called twice."""

    @abstractmethod
    def leave(self) -> None:
        """End it without touching what is in the store: another process went on with it."""


class Store(ABC):
    """Where blobs are kept."""

    name: ClassVar[str]

    @abstractmethod
    def require_usable(self) -> None:
        """Raises WrongUrl, OSError when it cannot be used as it is set up."""

    @abstractmethod
    def create(self, number: int) -> Writer:
        """Begin a blob. Raises OSError."""

    @abstractmethod
    def resume(self, number: int, kept: Kept, *, lapsed: bool) -> Writer:
        """Go on with an unfinished blob, from what was kept of it.

        `lapsed`: whoever began it did not end it, and may still write by mistake. Raises OSError, CannotGoOn.
        """

    @abstractmethod
    def reader(self, number: int) -> Reader:
        """Raises OSError when the blob is not there."""

    @abstractmethod
    def local_file(self, number: int) -> AbstractContextManager[Path]:
        """A file of this machine with the blob's content, only for reading, and only in the block."""

    @abstractmethod
    def size(self, number: int) -> int | None:
        """How many bytes a complete blob has; None when there is none."""

    @abstractmethod
    def delete(self, number: int) -> None:
        """Delete a blob, complete or not, if it is there. Raises OSError."""

    @abstractmethod
    def look(self, after: str) -> tuple[list[Found], str]:
        """Some of what is here behind a bookmark, and the next one: "" at the start, and at the end.

        Raises OSError.
        """

    @abstractmethod
    def free_bytes(self) -> int:
        """How many bytes of uploads this machine has room for."""

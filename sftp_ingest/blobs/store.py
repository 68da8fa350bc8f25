"""The interface of blob stores. A blob is content under a number and never changes after its completion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

State = dict[str, object]


class CannotResume(Exception):
    """An unfinished blob cannot be continued at the wanted byte."""


@dataclass(frozen=True)
class Checkpoint:
    """The bytes of an unfinished blob that survive this process, and the store's notes for resuming it."""

    size: int = 0
    state: State | None = None


@dataclass(frozen=True)
class ListedBlob:
    """Content listed by a store. Its row may be gone."""

    number: int
    changed_at: float  # seconds since 1970


class Reader(ABC):
    """A reader of a blob. Any thread may use it, but only one at a time."""

    @abstractmethod
    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from an offset, fewer only at the end. Raises OSError."""

    @abstractmethod
    def close(self) -> None:
        """Close the reader. A second call does nothing."""


class Writer(ABC):
    """A writer of chunks at any offset. The blob becomes readable under its number with `complete`."""

    @abstractmethod
    def write(self, offset: int, data: bytes) -> None:
        """Write a chunk. Raises OSError, or CannotResume for bytes that another process has sent."""

    @abstractmethod
    def reader(self) -> Reader:
        """Return a reader of the bytes so far, which also works after the end of the writer."""

    @abstractmethod
    def cut_to(self, size: int) -> None:
        """Truncate to a size. Raises OSError, CannotResume."""

    @abstractmethod
    def sync(self) -> None:
        """Make the bytes so far durable, as far as the store can before completion. Raises OSError."""

    @abstractmethod
    def checkpoint(self, whole_to: int) -> Checkpoint:
        """Start to save the bytes before `whole_to` without waiting. Return the newest saved checkpoint.

        Raises OSError.
        """

    @abstractmethod
    def complete(self, size: int) -> None:
        """Complete the blob with a size, so that it can be read under its number. Raises OSError."""

    @abstractmethod
    def keep(self, size: int) -> Checkpoint:
        """Close the writer and save the bytes up to `size`, so that another process can resume the blob."""

    @abstractmethod
    def discard(self) -> None:
        """Delete everything. A second call does nothing."""

    @abstractmethod
    def leave(self) -> None:
        """Close the writer without changing the store, because another process resumed the blob."""


class Store(ABC):
    name: ClassVar[str]

    @abstractmethod
    def require_usable(self) -> None:
        """Check the settings of the store. Raises WrongUploadsUrl, OSError."""

    @abstractmethod
    def create(self, number: int) -> Writer:
        """Begin a blob. Raises OSError."""

    @abstractmethod
    def resume(self, number: int, checkpoint: Checkpoint, *, lapsed: bool) -> Writer:
        """Continue an unfinished blob from its checkpoint. Raises OSError, CannotResume.

        `lapsed` means that the first writer never closed the blob and may still write to it.
        """

    @abstractmethod
    def reader(self, number: int) -> Reader:
        """Open a blob for reading. Raises OSError if it is missing."""

    @abstractmethod
    def local_file(self, number: int) -> AbstractContextManager[Path]:
        """Provide the blob's content as a read-only file of this host, inside the block."""

    @abstractmethod
    def size(self, number: int) -> int | None:
        """Return the size of a complete blob in bytes, or None if it is missing."""

    @abstractmethod
    def delete(self, number: int) -> None:
        """Delete a complete or unfinished blob, if it exists. Raises OSError."""

    @abstractmethod
    def look(self, after: str) -> tuple[list[ListedBlob], str]:
        """List some blobs after a bookmark; return them with the next bookmark. Raises OSError.

        The bookmark is an empty string at the start and after the end.
        """

    @abstractmethod
    def free_bytes(self) -> int:
        """Return the bytes that this host has free for uploads."""

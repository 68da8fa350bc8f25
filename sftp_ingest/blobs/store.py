"""The interface of blob stores. A blob is content under a number and never changes after its completion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

State = dict[str, object]


class CannotResume(Exception):
    """The error for an unfinished blob that cannot be continued at the requested byte."""


@dataclass(frozen=True)
class Checkpoint:
    """The saved size of an unfinished blob, and the store's notes for resuming it in another process."""

    size: int = 0
    state: State | None = None


@dataclass(frozen=True)
class ListedBlob:
    """Content listed by a store. Its row may have been deleted."""

    number: int
    changed_at: float  # seconds since 1970


class Reader(ABC):
    """A reader of a blob. Any thread may use it, but only one at a time."""

    @abstractmethod
    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from an offset, or fewer at the end of the blob. Raises OSError."""

    @abstractmethod
    def close(self) -> None:
        """Close the reader. A second call does nothing."""


class Writer(ABC):
    """A writer of chunks at any offset. The blob becomes readable under its number with `complete`."""

    @abstractmethod
    def write(self, offset: int, data: bytes) -> None:
        """Write a chunk. Raises OSError, or CannotResume if the bytes were sent before the resumption."""

    @abstractmethod
    def reader(self) -> Reader:
        """Return a reader of the bytes so far. The reader also works after the writer was closed."""

    @abstractmethod
    def cut_to(self, size: int) -> None:
        """Truncate to a size. Raises OSError, CannotResume."""

    @abstractmethod
    def sync(self) -> None:
        """Make the bytes so far durable, if the store can do this before completion. Raises OSError."""

    @abstractmethod
    def checkpoint(self, whole_to: int) -> Checkpoint:
        """Start to save the bytes before `whole_to` in the background. Return the last saved checkpoint.

        Raises OSError.
        """

    @abstractmethod
    def complete(self, size: int) -> None:
        """Complete the blob with this size, so that it can be read under its number. Raises OSError."""

    @abstractmethod
    def keep(self, size: int) -> Checkpoint:
        """Close the writer and save the bytes up to `size`, so that another process can resume the blob."""

    @abstractmethod
    def discard(self) -> None:
        """Delete the unfinished blob. A second call does nothing."""

    @abstractmethod
    def leave(self) -> None:
        """Close the writer without changing the store, because another process resumed the blob."""


class Store(ABC):
    name: ClassVar[str]

    @abstractmethod
    def require_usable(self) -> None:
        """Check the settings of the store, without a request. Raises WrongUploadsUrl, OSError."""

    def require_answer(self) -> None:
        """Check that the storage answers and gives access. Raises StorageAway."""
        return

    @abstractmethod
    def create(self, number: int) -> Writer:
        """Begin a new blob and return its writer. Raises OSError."""

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
        """Provide the blob's content as a read-only file on this host inside a `with` block."""

    @abstractmethod
    def size(self, number: int) -> int | None:
        """Return the size of a complete blob in bytes, or None if it is missing."""

    @abstractmethod
    def delete(self, number: int) -> None:
        """Delete a complete or unfinished blob, if it exists. Raises OSError."""

    @abstractmethod
    def look(self, after: str) -> tuple[list[ListedBlob], str]:
        """Return some blobs after the position `after`, and the position for the next call.

        Start with an empty text. The returned position is empty if no blobs follow. Raises OSError.
        """

    @abstractmethod
    def free_bytes(self) -> int:
        """Return the bytes that this host has free for uploads."""

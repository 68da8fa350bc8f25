"""The stores by name, and the store of new blobs."""

from __future__ import annotations

import functools
from pathlib import Path

from django.conf import settings

from sftp_ingest.blobs.bucket import Bucket
from sftp_ingest.blobs.local import LocalStore
from sftp_ingest.blobs.s3 import S3Store
from sftp_ingest.blobs.store import Store


def store_for_new() -> Store:
    """Return the store of new blobs: the bucket in UPLOADS_URL if it is set, otherwise the local disk."""
    return store_named(S3Store.name if settings.UPLOADS_URL else LocalStore.name)


def stores_in_use() -> list[Store]:
    """Return the stores that may hold blobs."""
    return [store_named(LocalStore.name), *([store_for_new()] if settings.UPLOADS_URL else [])]


def store_named(name: str) -> Store:
    """Return a store by name. Existing blobs stay in their store when UPLOADS_URL changes."""
    return _store(name, settings.UPLOADS_DIR, settings.UPLOADS_URL)


@functools.lru_cache(maxsize=8)
def _store(name: str, folder: Path, url: str) -> Store:
    if name == LocalStore.name:
        return LocalStore(folder / "blobs")
    return S3Store(functools.partial(Bucket, url), folder / "sending")

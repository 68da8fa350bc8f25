"""The storage of static files, which works with and without `collectstatic`."""

from __future__ import annotations

from django.contrib.staticfiles.storage import StaticFilesStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]


class HashedWhenCollected(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """A storage with hashed, compressed files after `collectstatic`, and plain names before, as in tests."""

    def url(self, name: str | None, force: bool = False) -> str:
        if not self.hashed_files:
            return StaticFilesStorage.url(self, name)
        hashed: str = super().url(name, force)
        return hashed

"""The storage of static files, which works with and without `collectstatic`."""

from __future__ import annotations

from django.contrib.staticfiles.storage import StaticFilesStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]


class HashedWhenCollected(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """A storage with hashed, compressed files. Before `collectstatic`, as in tests, it uses plain names."""

    def url(self, name: str | None, force: bool = False) -> str:
        if not self.hashed_files:
            return StaticFilesStorage.url(self, name)
        hashed: str = super().url(name, force)
        return hashed

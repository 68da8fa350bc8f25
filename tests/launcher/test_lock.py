"""One `make run` at a time has a DATA_DIR."""

from __future__ import annotations

import os
from pathlib import Path

from tools.launcher.lock import try_lock


def test_the_first_run_makes_its_folder(tmp_path: Path):
    descriptor = try_lock(tmp_path / "new" / "var")

    assert descriptor is not None
    os.close(descriptor)

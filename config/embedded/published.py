"""DATA_DIR/embedded.json: where the running servers are, for whoever else works in this folder.

config/local.py reads it, so that `manage.py shell` in another terminal finds them.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def publish(data_dir: Path, urls: Mapping[str, str]) -> Path:
    """Write the addresses, passwords included, for the owner's eyes only."""
    path, half = data_dir / "embedded.json", data_dir / "embedded.json.half"
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({variable.lower(): url for variable, url in urls.items()}, file)
    half.rename(path)
    return path

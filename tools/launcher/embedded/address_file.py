"""DATA_DIR/embedded.json: the URLs of the running servers, for other commands with the same DATA_DIR.

config/env_defaults.py reads it, so that `manage.py shell` in another terminal connects to them.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def publish(data_dir: Path, urls: Mapping[str, str]) -> Path:
    """Write the URLs to a file that only its owner may read: they contain passwords."""
    path, half = data_dir / "embedded.json", data_dir / "embedded.json.half"
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({variable.lower(): url for variable, url in urls.items()}, file)
    half.rename(path)
    return path

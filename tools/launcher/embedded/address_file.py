"""The file DATA_DIR/embedded.json with the URLs of the embedded servers, for other commands.

config/env_defaults.py reads the file, so that `manage.py shell` in another terminal connects to the servers.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def publish(data_dir: Path, urls: Mapping[str, str]) -> Path:
    """Write the URLs to a private file, because they contain passwords. Return the path of the file."""
    path, half = data_dir / "embedded.json", data_dir / "embedded.json.half"
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({variable.lower(): url for variable, url in urls.items()}, file)
    half.rename(path)
    return path

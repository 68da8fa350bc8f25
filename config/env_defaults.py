"""Defaults of DATABASE_URL, REDIS_URL and SECRET_KEY, read from files in the folders of data and secrets."""

import json
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

# Nothing listens on these ports. Without a URL and without `make run`, the first query fails immediately.
UNREACHABLE = {
    "database_url": "postgresql://exchange@127.0.0.1:1/exchange",
    "redis_url": "redis://127.0.0.1:1/0",
}


def embedded_url(data_dir: Path, name: str) -> str:
    """Return the URL of the embedded server that `make run` started in this data folder."""
    try:
        servers = json.loads((data_dir / "embedded.json").read_text())
    except (OSError, ValueError):
        return UNREACHABLE[name]
    return str(servers.get(name) or UNREACHABLE[name])


def secret_key(folder: Path) -> str:
    """Return the secret key of this installation. The first call stores it, readable by its owner only.

    Raises SystemExit if the key cannot be stored, because other processes would sign with other keys.
    """
    path = folder / "secret_key"
    with suppress(FileNotFoundError, NotADirectoryError):
        return path.read_text().strip()
    try:
        _write_once(path, secrets.token_urlsafe(50))
        return path.read_text().strip()
    except OSError as error:
        sys.exit(f"SECRET_KEY is not set, and {path} cannot be written ({error.strerror}).")


def _write_once(path: Path, text: str) -> None:
    """Write a file that other processes see only when it is complete. If the file exists, keep it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process has just written the file
            path.hardlink_to(half)
    finally:
        half.unlink(missing_ok=True)

"""Passwords of the embedded servers."""

import os
import secrets
from pathlib import Path


def persistent_password(path: Path) -> str:
    """Return the password in this file, which only its owner may read. The first call creates the file."""
    if not path.exists():
        half = path.with_name(f"{path.name}.half")
        half.unlink(missing_ok=True)
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(new_password())
        half.rename(path)
    return path.read_text()


def new_password() -> str:
    """Return a new password that needs no quoting in a URL, in SQL or in a configuration file."""
    return secrets.token_urlsafe(24)

"""Passwords of the embedded servers."""

import os
import secrets
from pathlib import Path


def persistent_password(path: Path) -> str:
    """The password in this file, made on the first call; only its owner may read it."""
    if not path.exists():
        half = path.with_name(f"{path.name}.half")
        half.unlink(missing_ok=True)
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(new_password())
        half.rename(path)
    return path.read_text()


def new_password() -> str:
    """A password that needs no quoting in a URL, in SQL or in a configuration."""
    return secrets.token_urlsafe(24)

"""`manage.py make_secrets`: generate the secrets of a new installation in SECRETS_DIR (docs/running.md)."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand

from sftp_ingest.server.host_key import host_keys


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # the command runs before the database exists
    help = (
        "Generate the secrets that SECRETS_DIR lacks: SECRET_KEY, the host keys of the SFTP server, and the "
        "password of the database (POSTGRES_PASSWORD, or a random one) for the server and for its clients."
    )

    def handle(self, *args: object, **options: object) -> None:
        host_keys()
        password = settings.SECRETS_DIR / "postgres_password"
        # Make this file readable for all users: the database server runs as another user. Only containers of
        # this installation mount the folder.
        _write_once(password, os.environ.get("POSTGRES_PASSWORD") or secrets.token_urlsafe(24), 0o644)
        quoted = password.read_text().replace("\\", "\\\\").replace(":", "\\:")
        _write_once(settings.SECRETS_DIR / "pgpass", f"*:*:*:*:{quoted}\n", 0o600)
        self.stdout.write(f"The secrets are in {settings.SECRETS_DIR}.")


def _write_once(path: Path, content: str, mode: int) -> None:
    """Write a file. Keep an existing file unchanged."""
    if path.exists():
        return
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        os.fchmod(file.fileno(), mode)  # `os.open` leaves out the bits of the umask
        file.write(content)
    half.rename(path)

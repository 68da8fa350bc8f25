"""The host key of this server, which is generated once."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings
from paramiko import Ed25519Key


def host_key() -> Ed25519Key:
    """Return the private host key of SFTP_HOST_KEY_FILE, or else a generated key in DATA_DIR.

    Raises FileNotFoundError for a missing SFTP_HOST_KEY_FILE, since clients would reject a new key.
    """
    path = key_path()
    if not path.exists() and not settings.SFTP_HOST_KEY_FILE:
        _make(path)
    return Ed25519Key.from_private_key_file(str(path))


def key_path() -> Path:
    return Path(settings.SFTP_HOST_KEY_FILE or settings.DATA_DIR / "sftp_host_key")


def public_line() -> str:
    """Return the public host key in the format of known_hosts: `ssh-ed25519 AAAA…`."""
    key = host_key()
    return f"{key.get_name()} {key.get_base64()}"


def _make(path: Path) -> None:
    """Write a new key atomically, readable by its owner only. Of two concurrent keys the first stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        path.hardlink_to(half)
    half.unlink()

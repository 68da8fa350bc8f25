"""The host keys of this server. Missing keys in SECRETS_DIR are generated once."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings
from paramiko import ECDSAKey, Ed25519Key, PKey, RSAKey

logger = logging.getLogger(__name__)

RSA_BITS = 3072
PrivateKey = Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class HostKeyKind(NamedTuple):
    """A kind of host key: the suffix of its file's name, its reader, and its generator."""

    suffix: str
    read: Callable[[str], PKey]
    generate: Callable[[], PrivateKey]


ED25519 = HostKeyKind("", Ed25519Key.from_private_key_file, Ed25519PrivateKey.generate)
KINDS = (
    ED25519,
    HostKeyKind("_ecdsa", ECDSAKey.from_private_key_file, lambda: ec.generate_private_key(ec.SECP256R1())),
    HostKeyKind("_rsa", RSAKey.from_private_key_file, lambda: rsa.generate_private_key(65537, RSA_BITS)),
)
"""The kinds of host keys, the preferred kind first. Clients that stored the ed25519 key keep using it."""


def host_keys() -> list[PKey]:
    """Return the private host keys. Missing keys in SECRETS_DIR are generated.

    With SFTP_HOST_KEY_FILE, no key is generated, because each host would generate another key. This file must
    exist. The keys of other kinds, in files beside it, are used if they exist.
    """
    absent = [path for path in key_paths()[1:] if settings.SFTP_HOST_KEY_FILE and not path.exists()]
    for path in absent:
        logger.warning("There is no host key %s: clients that need its kind cannot connect.", path)
    return [_key(kind) for kind in KINDS if _path(kind) not in absent]


def key_paths() -> list[Path]:
    """Return the paths of all host keys. Some may not exist."""
    return [_path(kind) for kind in KINDS]


def public_line() -> str:
    """Return the preferred public key in the format of known_hosts: `ssh-ed25519 AAAA…`."""
    key = _key(ED25519)
    return f"{key.get_name()} {key.get_base64()}"


def _path(kind: HostKeyKind) -> Path:
    first = Path(settings.SFTP_HOST_KEY_FILE or settings.SECRETS_DIR / "sftp_host_key")
    return first.with_name(first.name + kind.suffix)


def _key(kind: HostKeyKind) -> PKey:
    """Read a key, or generate it in SECRETS_DIR.

    Raises FileNotFoundError for a missing SFTP_HOST_KEY_FILE, because clients would reject a new key.
    """
    path = _path(kind)
    if not path.exists() and not settings.SFTP_HOST_KEY_FILE:
        _make(path, kind.generate())
    return kind.read(str(path))


def _make(path: Path, key: PrivateKey) -> None:
    """Write a new key atomically, readable by its owner only.

    If two processes write a key at the same time, the first key stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    content = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        path.hardlink_to(half)
    half.unlink()

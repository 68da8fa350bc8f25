"""Encryption with SECRET_KEY, for secrets that the service must read again, such as host passwords."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


def encrypt(secret: str) -> str:
    return _fernet().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Decrypt a secret. Raises ValueError if neither SECRET_KEY nor any of its fallbacks can read it."""
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise ValueError(
            "The stored secret cannot be read: SECRET_KEY has changed. Enter it again."
        ) from error


def renew(encrypted: str) -> str:
    """Encrypt a stored secret again with the current SECRET_KEY. Raises ValueError as `decrypt` does."""
    return encrypt(decrypt(encrypted))


def _fernet() -> MultiFernet:
    """Return a cipher that encrypts with SECRET_KEY, and also decrypts with each of its fallbacks."""
    return MultiFernet([_cipher(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _cipher(key: str) -> Fernet:
    # The label is part of the key: changing it would make every stored secret unreadable.
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"sftp_ingest.sealing:{key}".encode()).digest()))

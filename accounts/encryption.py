"""Encryption of secrets that must be read again (hosts' passwords, webhooks' secrets), by SECRET_KEY."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


def encrypt(secret: str) -> str:
    """The secret, encrypted."""
    return _fernet().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """The secret. Raises ValueError when neither SECRET_KEY nor one of its fallbacks reads it."""
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise ValueError(
            "The stored secret cannot be read: SECRET_KEY has changed. Enter it anew."
        ) from error


def renew(encrypted: str) -> str:
    """The same secret, encrypted with SECRET_KEY as it is now. Raises ValueError as `decrypt` does."""
    return encrypt(decrypt(encrypted))


def _fernet() -> MultiFernet:
    """Encrypts with SECRET_KEY, and reads what any of its fallbacks has encrypted."""
    return MultiFernet([_of(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _of(key: str) -> Fernet:
    # The label is part of the key: to change it would make every stored secret unreadable.
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"sftp_ingest.sealing:{key}".encode()).digest()))

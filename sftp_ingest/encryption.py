"""Encryption of passwords that must be read again (of suppliers' own hosts), under a key of SECRET_KEY."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


def encrypt(secret: str) -> str:
    """The secret, encrypted."""
    return _fernet().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """The secret. Raises ValueError when SECRET_KEY is not the one that it was encrypted with."""
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise ValueError(
            "The stored password cannot be read: SECRET_KEY has changed. Enter it anew."
        ) from error


def _fernet() -> Fernet:
    # The label is part of the key: to change it would make every stored password unreadable.
    key = hashlib.sha256(f"sftp_ingest.sealing:{settings.SECRET_KEY}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))

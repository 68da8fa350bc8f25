"""Passwords of others, which must be read again: encrypted under the installation's own key."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


def seal(secret: str) -> str:
    """The secret, encrypted."""
    return _fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The secret again. Raises ValueError when SECRET_KEY is not the one it was sealed under."""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise ValueError(
            "The stored password cannot be read: SECRET_KEY has changed. Enter it anew."
        ) from error


def _fernet() -> Fernet:
    key = hashlib.sha256(f"sftp_ingest.sealing:{settings.SECRET_KEY}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))

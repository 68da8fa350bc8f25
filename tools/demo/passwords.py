"""Hashes of the demo's passwords. These are random texts of 144 bits, so a few hash rounds are enough.

Django's own rounds take a third of a second, and each start checks about twenty passwords.
"""

from __future__ import annotations

import secrets

from django.contrib.auth.hashers import PBKDF2PasswordHasher, get_hasher, identify_hasher

ROUNDS = 1_000


def new_password() -> str:
    """Return a random password."""
    return secrets.token_urlsafe(18)


def hashed(password: str) -> str:
    """Return the hash to store. The first sign-in of a user replaces it by Django's own."""
    hasher = get_hasher()
    if isinstance(hasher, PBKDF2PasswordHasher):
        return hasher.encode(password, hasher.salt(), ROUNDS)
    return hasher.encode(password, hasher.salt())


def fits(password: str, stored: str) -> bool:
    """Return whether a password has this hash, and change nothing."""
    try:
        return bool(password) and identify_hasher(stored).verify(password, stored)
    except ValueError:  # no hash, or of an unknown kind
        return False

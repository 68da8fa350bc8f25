"""Hashes of the demo's passwords. A few hash rounds are secure, because the passwords are 144 random bits.

Django's own number of rounds takes a third of a second, and each start of the demo checks about twenty
passwords.
"""

from __future__ import annotations

import secrets

from django.contrib.auth.hashers import PBKDF2PasswordHasher, get_hasher, identify_hasher

ROUNDS = 1_000


def new_password() -> str:
    """Return a random password."""
    return secrets.token_urlsafe(18)


def hashed(password: str) -> str:
    """Return the hash to store. At the first sign-in, Django stores a hash with more rounds."""
    hasher = get_hasher()
    if isinstance(hasher, PBKDF2PasswordHasher):
        return hasher.encode(password, hasher.salt(), ROUNDS)
    return hasher.encode(password, hasher.salt())


def fits(password: str, stored: str) -> bool:
    """Return whether a password has this hash. Unlike `check_password`, never store a new hash."""
    try:
        return bool(password) and identify_hasher(stored).verify(password, stored)
    except ValueError:  # `stored` is no hash, or a hash of an unknown kind
        return False

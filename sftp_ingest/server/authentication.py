"""Logins by password and by key. The check of an unknown name takes as long as that of a known name."""

from __future__ import annotations

from django.contrib.auth.hashers import make_password
from paramiko import PKey

from sftp_ingest.keys import parse_public_keys
from sftp_ingest.models import SftpLogin

MAX_PASSWORD_LENGTH = 1000


def by_password(username: str, password: str) -> SftpLogin | None:
    """Return the active login with a name and password, or None."""
    login = _active(username)
    if login is None or not login.password or len(password) > MAX_PASSWORD_LENGTH:
        # Spend the time of a password check, so that the time does not show whether the name exists.
        make_password(password[:MAX_PASSWORD_LENGTH])
        return None
    return login if login.check_password(password) else None


def by_key(username: str, key: PKey) -> SftpLogin | None:
    """Return the active login with a name and public key, or None. paramiko verifies the signature later."""
    login = _active(username)
    try:
        known = parse_public_keys(login.public_keys) if login else []
    except ValueError:  # a script may store a key that the admin refuses
        return None
    return login if any(candidate.asbytes() == key.asbytes() for candidate in known) else None


def still_active(login: SftpLogin) -> SftpLogin | None:
    """Return the current row of a login; None if it was deactivated, deleted or given to another supplier."""
    return SftpLogin.objects.filter(pk=login.pk, supplier_id=login.supplier_id, is_active=True).first()


def _active(username: str) -> SftpLogin | None:
    if "\0" in username or not username.isprintable():
        return None
    return SftpLogin.objects.filter(username=username, is_active=True).first()

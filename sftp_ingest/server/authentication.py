"""Logins by password and by key. A name that does not exist takes as long as one that does."""

from __future__ import annotations

from django.contrib.auth.hashers import make_password
from paramiko import PKey

from sftp_ingest.keys import parse_public_keys
from sftp_ingest.models import SftpLogin

MAX_PASSWORD_LENGTH = 1000


def by_password(username: str, password: str) -> SftpLogin | None:
    """The active login with that name and password."""
    login = _active(username)
    if login is None or not login.password or len(password) > MAX_PASSWORD_LENGTH:
        make_password(password[:MAX_PASSWORD_LENGTH])  # takes as long as a comparison
        return None
    return login if login.check_password(password) else None


def by_key(username: str, key: PKey) -> SftpLogin | None:
    """The active login with that name and public key; whether the client has the private one is not known."""
    login = _active(username)
    try:
        known = parse_public_keys(login.public_keys) if login else []
    except ValueError:  # the admin refuses such, a script might not
        return None
    return login if any(each.asbytes() == key.asbytes() for each in known) else None


def still_active(login: SftpLogin) -> SftpLogin | None:
    """The login as it is now; None when it was switched off or removed."""
    return SftpLogin.objects.filter(pk=login.pk, is_active=True).first()


def _active(username: str) -> SftpLogin | None:
    if "\0" in username or not username.isprintable():
        return None
    return SftpLogin.objects.filter(username=username, is_active=True).first()

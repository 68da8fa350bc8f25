"""Who is there: a login found and proven, taking as long for a name that does not exist."""

from __future__ import annotations

from django.contrib.auth.hashers import make_password
from paramiko import PKey

from sftp_ingest.keys import parse_public_keys
from sftp_ingest.models import SftpLogin

LONGEST_PASSWORD = 1000


def with_password(username: str, password: str) -> SftpLogin | None:
    """The active login with that name and password."""
    login = _active(username)
    if login is None or not login.password or len(password) > LONGEST_PASSWORD:
        make_password(password[:LONGEST_PASSWORD])  # takes as long as a comparison
        return None
    return login if login.check_password(password) else None


def with_key(username: str, key: PKey) -> SftpLogin | None:
    """The active login with that name and public key; whether the client has the private one is not known."""
    login = _active(username)
    try:
        known = parse_public_keys(login.public_keys) if login else []
    except ValueError:  # the admin refuses such, a script might not
        return None
    return login if any(each.asbytes() == key.asbytes() for each in known) else None


def refreshed(login: SftpLogin) -> SftpLogin | None:
    """The login as it is now; None when it was switched off or removed."""
    return SftpLogin.objects.filter(pk=login.pk, is_active=True).first()


def _active(username: str) -> SftpLogin | None:
    if "\0" in username or not username.isprintable():
        return None
    return SftpLogin.objects.filter(username=username, is_active=True).first()

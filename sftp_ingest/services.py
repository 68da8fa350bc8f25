"""Changes of logins and remote hosts, each with an event that names the operator.

Only operators see these events, because no scope of a key covers logins. An event never contains a password,
not even encrypted or hashed, and contains only the fingerprints of keys.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from accounts.actors import Actor
from events.changes import differences
from events.models import ACCOUNTS
from events.recording import record
from sftp_ingest.area import cut_uploads
from sftp_ingest.keys import fingerprints
from sftp_ingest.models import RemoteHost, SftpLogin

Credentials = SftpLogin | RemoteHost

# The names of the events, and the fields that they may show.
TYPES: dict[type[Credentials], str] = {SftpLogin: "sftp_login", RemoteHost: "remote_host"}
SHOWN: dict[type[Credentials], tuple[str, ...]] = {
    SftpLogin: ("supplier_id", "username", "is_active", "quota_bytes", "largest_file_bytes"),
    RemoteHost: ("supplier_id", "host", "port", "username"),
}


def create(credentials: Credentials, *, by: Actor) -> None:
    """Save a new login or remote host."""
    with transaction.atomic():
        credentials.save(force_insert=True)
        _record("created", credentials, by, {**_shown(credentials), **_secrets_changed(None, credentials)})


def update(credentials: Credentials, fields: Collection[str], *, by: Actor) -> None:
    """Save these fields of a login or remote host, and record the differences, if any."""
    with transaction.atomic():
        former = type(credentials)._default_manager.select_for_update().get(pk=credentials.pk)
        credentials.save(update_fields=fields)
        credentials.refresh_from_db()  # other fields of the object may be out of date
        changed = _differences(former, credentials)
        if not changed:
            return
        _record("updated", credentials, by, changed)
        if former.supplier_id != credentials.supplier_id:
            # The former supplier gets an event too, because the history of each supplier has its own events.
            _record("updated", former, by, changed)
            if isinstance(former, SftpLogin):
                cut_uploads.drop_all_of(former)  # the new supplier must not resume these uploads


def delete(credentials: Credentials, *, by: Actor) -> None:
    """Delete a login or remote host. Files in the upload area stay; unfinished uploads are deleted."""
    with transaction.atomic():
        if isinstance(credentials, SftpLogin):
            cut_uploads.drop_all_of(credentials)
        _record("deleted", credentials, by, {})
        credentials.delete()


def record_test(host: RemoteHost, result: str, *, worked: bool, by: Actor) -> None:
    """Record the result of a connection test."""
    with transaction.atomic():
        _record("tested", host, by, {"worked": worked, "found": result})


def _differences(former: Credentials, credentials: Credentials) -> dict[str, object]:
    changed = differences(former, _shown(credentials))
    return ({"changed": changed} if changed else {}) | _secrets_changed(former, credentials)


def _shown(credentials: Credentials) -> dict[str, object]:
    return {name: getattr(credentials, name) for name in SHOWN[type(credentials)]}


def _secrets_changed(former: Credentials | None, credentials: Credentials) -> dict[str, object]:
    """Return the fingerprints of added and removed keys, and whether the password was changed."""
    before, after = _keys(former) if former else [], _keys(credentials)
    data = {
        "keys_added": [key for key in after if key not in before],
        "keys_removed": [key for key in before if key not in after],
        "password_set": credentials.password != (former.password if former else ""),
    }
    return {name: value for name, value in data.items() if value}


def _keys(credentials: Credentials) -> list[str]:
    if isinstance(credentials, SftpLogin):
        return fingerprints(credentials.public_keys)
    return fingerprints(credentials.host_key)


def _record(happened: str, credentials: Credentials, by: Actor, data: dict[str, object]) -> None:
    kind = TYPES[type(credentials)]
    about = {f"{kind}_id": credentials.pk, kind: str(credentials), **data}
    supplier_id = credentials.supplier_id
    record(f"{kind}.{happened}", by=by, area=ACCOUNTS, supplier_id=supplier_id, data=about)

"""The file demo.json: URLs and keys for clients of the demo. No other file contains the demo's secrets."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, TypedDict

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from accounts.authentication import find
from accounts.models import ApiKey, Retailer, Supplier
from config.ports import reachable
from sftp_ingest.server import host_key
from tools.demo import cast, market, passwords

KEY_NAME = "demo"


class AdminEntry(TypedDict):
    url: str
    username: str
    password: str


class SftpEntry(TypedDict):
    host: str
    port: int
    host_key: str


class WarehouseEntry(TypedDict):
    id: int
    name: str


class PartyEntry(TypedDict):
    """A retailer in demo.json."""

    id: int
    name: str
    api_key: str
    client_id: str
    client_secret: str


class SupplierEntry(PartyEntry):
    sftp_username: str
    sftp_password: str
    warehouses: list[WarehouseEntry]


class MemberEntry(TypedDict):
    """A member who can sign in to the portal. `party` is a text such as `supplier:1`."""

    email: str
    password: str
    party: str
    role: str


class Demo(TypedDict):
    """The content of demo.json (contract 11)."""

    base_url: str
    admin: AdminEntry
    sftp: SftpEntry
    suppliers: list[SupplierEntry]
    retailers: list[PartyEntry]
    members: list[MemberEntry]


def path() -> Path:
    """Return the path of demo.json."""
    return settings.DATA_DIR / "demo.json"


def load(source: Path | None = None) -> Demo:
    """Read demo.json. Raises OSError, or ValueError if the content is not a JSON object."""
    source = source or path()
    content = json.loads(source.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{source} contains no JSON object")  # noqa: TRY004 - one error for unreadable content
    return content  # type: ignore[return-value]


def write(target: Path | None = None) -> Demo:
    """Write demo.json. Keep the old file's secrets that are still valid, and replace its invalid secrets."""
    target = target or path()
    try:
        known: dict[str, Any] = {**load(target)}
    except (OSError, ValueError):
        known = {}
    with transaction.atomic():
        demo = _describe(known)
    _replace(target, json.dumps(demo, indent=1, ensure_ascii=False) + "\n")
    return demo


def _describe(known: dict[str, Any]) -> Demo:
    return {
        "base_url": settings.BASE_URL,
        "admin": _admin(known),
        "sftp": {
            "host": reachable(settings.SFTP_HOST),
            "port": settings.SFTP_PORT,
            "host_key": host_key.public_line(),
        },
        "suppliers": [_supplier(supplier, known) for supplier in cast.suppliers() + market.suppliers()],
        "retailers": [
            _party(retailer, _known(known, "retailers", retailer))
            for retailer in cast.retailers() + market.retailers()
        ],
        "members": [
            _member(party, known) for party in [*cast.parties(), *market.suppliers(), *market.retailers()]
        ],
    }


def _known(known: dict[str, Any], role: str, party: Supplier | Retailer) -> dict[str, Any]:
    """Return the entry of a party in the old demo.json."""
    return next((entry for entry in known.get(role, []) if entry.get("id") == party.pk), {})


def _admin(known: dict[str, Any]) -> AdminEntry:
    user = User.objects.get(username=cast.OPERATOR)
    password = _password(user, known.get("admin", {}).get("password", ""))
    return {"url": f"{settings.BASE_URL}/admin/", "username": user.username, "password": password}


def _member(party: Supplier | Retailer, known: dict[str, Any]) -> MemberEntry:
    owner = cast.owner(party)
    email = owner.user.email
    entries = known.get("members", [])
    entry: dict[str, Any] = next((each for each in entries if each.get("email") == email), {})
    password = _password(owner.user, entry.get("password", ""))
    named = f"{party.role.value}:{party.pk}"
    return {"email": email, "password": password, "party": named, "role": owner.member_role}


def _password(user: User, known: str) -> str:
    """Return the known password if it is right. Otherwise set and return a new password."""
    if passwords.fits(known, user.password):
        return known
    password = passwords.new_password()
    user.password = passwords.hashed(password)
    user.save(update_fields=["password"])
    return password


def _party(party: Supplier | Retailer, known: dict[str, Any]) -> PartyEntry:
    secret = known.get("api_key", "")
    access = find(secret)
    if access is None or access.key.party != party:
        key, secret = _fresh_key(party)
    else:
        key = access.key
    return {
        "id": party.pk,
        "name": party.name,
        "api_key": secret,
        "client_id": key.prefix,
        "client_secret": secret,
    }


def _fresh_key(party: Supplier | Retailer) -> tuple[ApiKey, str]:
    """Issue a new demo key, and revoke the earlier demo keys, whose secrets are unknown."""
    party.api_keys.filter(name=KEY_NAME, revoked_at=None).update(revoked_at=timezone.now())
    return ApiKey.issue(party, KEY_NAME)


def _supplier(supplier: Supplier, all_known: dict[str, Any]) -> SupplierEntry:
    known = _known(all_known, "suppliers", supplier)
    login = supplier.sftp_login
    password = known.get("sftp_password", "")
    if not passwords.fits(password, login.password):
        password = passwords.new_password()
        login.password = passwords.hashed(password)
        login.save(update_fields=["password"])
    return {
        **_party(supplier, known),
        "sftp_username": login.username,
        "sftp_password": password,
        "warehouses": [
            {"id": warehouse.pk, "name": warehouse.name} for warehouse in supplier.warehouses.order_by("id")
        ],
    }


def _replace(target: Path, text: str) -> None:
    """Write a private file. The old file stays until the new file is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=".demo-", dir=target.parent)  # its mode is 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

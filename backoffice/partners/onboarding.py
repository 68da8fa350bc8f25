"""Onboarding: one transaction creates a party with its partnerships, key, warehouses and login."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.admin import AdminSite
from django.db import transaction
from django.db.models import Model

from accounts.actors import Actor
from accounts.models import ApiKey, Partnership, Retailer, Supplier
from accounts.scopes import Role
from events.admin_base import RecordedAdmin
from inventory.models import Warehouse
from sftp_ingest.models import SftpLogin
from sftp_ingest.services import create

PASSWORD_BYTES = 18


@dataclass(frozen=True)
class Newcomer:
    """A new party with its secrets. The database stores only hashes of the secrets; see `handover`."""

    party: Supplier | Retailer
    key: ApiKey
    secret: str
    warehouses: Sequence[Warehouse] = ()
    sftp_username: str = ""
    sftp_password: str = ""


@dataclass(frozen=True)
class OnboardingAnswers:
    name: str
    partners: Sequence[Supplier | Retailer]
    key_name: str
    currency: str
    warehouses: Sequence[str] = ()
    sftp_username: str = ""


def onboard(role: Role, answers: OnboardingAnswers, *, site: AdminSite, by: Actor) -> Newcomer:
    """Create the party, its partnerships and first key, and a supplier's warehouses and login.

    Each record gets the same event as after an addition on its own admin page.
    """
    with transaction.atomic():
        party = (Supplier if role is Role.SUPPLIER else Retailer)(
            name=answers.name, currency=answers.currency
        )
        _add(site, party, by)
        for partner in answers.partners:
            sides = {role.value: party, partner.role.value: partner}
            _add(site, Partnership(**sides), by)
        key = ApiKey(name=answers.key_name, **{role.value: party})
        secret = key.make_secret()
        _add(site, key, by)
        if not isinstance(party, Supplier):
            return Newcomer(party, key, secret)
        warehouses = [
            Warehouse(supplier=party, name=name, is_default=number == 0)
            for number, name in enumerate(answers.warehouses)
        ]
        for warehouse in warehouses:
            _add(site, warehouse, by)
        password = _login(party, answers.sftp_username, by) if answers.sftp_username else ""
        return Newcomer(party, key, secret, warehouses, answers.sftp_username, password)


def _login(supplier: Supplier, username: str, by: Actor) -> str:
    """Create the login of the supplier's upload area. Return its generated password."""
    login, password = SftpLogin(supplier=supplier, username=username), secrets.token_urlsafe(PASSWORD_BYTES)
    login.set_password(password)
    create(login, by=by)
    return password


def _add(site: AdminSite, record: Model, by: Actor) -> None:
    listed = site.get_model_admin(type(record))
    assert isinstance(listed, RecordedAdmin)
    listed.save_recorded(record, None, by=by)

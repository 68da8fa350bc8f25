"""Logins by password and by key."""

from __future__ import annotations

import paramiko
import pytest

from accounts.models import Supplier
from sftp_ingest.models import SftpLogin
from tests.factories import SftpLoginFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_right_password_opens_the_area_and_is_noted(server, acme_login: SftpLogin, connect):
    assert sorted(connect(server, "acme").open_sftp().listdir()) == [
        "inventory",
        "orders",
        "products",
        "templates",
        "tracking",
    ]

    acme_login.refresh_from_db()
    assert acme_login.last_login_at is not None


def test_a_key_opens_the_area(server, acme: Supplier, key: paramiko.PKey, connect):
    line = f"# laptop\n\n{key.get_name()} {key.get_base64()} acme@erp\n"
    SftpLoginFactory.create(supplier=acme, public_keys=line)

    assert connect(server, "acme", pkey=key).open_sftp().listdir("products") == []


def test_another_key_does_not_open_the_area(server, acme_login: SftpLogin, key: paramiko.PKey, connect):
    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme", pkey=key)


@pytest.mark.parametrize("username", ["acme", "nobody", "", "a\nb", "x" * 5000])
def test_wrong_passwords_and_unknown_names_are_refused_alike(acme_login: SftpLogin, fail, username: str):
    fail(username)


def test_an_unknown_name_costs_a_hash_too(fail, monkeypatch):
    hashed: list[str] = []
    monkeypatch.setattr("sftp_ingest.server.authentication.make_password", hashed.append)
    fail("nobody")

    assert hashed == ["wrong"]


def test_a_login_without_a_password_takes_no_empty_one(server, acme: Supplier, connect):
    SftpLoginFactory.create(supplier=acme)

    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme", password="")


def test_a_disabled_login_is_refused(server, acme_login: SftpLogin, connect):
    SftpLogin.objects.update(is_active=False)

    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme")

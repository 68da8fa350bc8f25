"""Changes of logins and remote hosts are in the history for operators, in no feed, and without secrets."""

from __future__ import annotations

from typing import Any

import paramiko
import pytest
from django.test import Client

from accounts.actors import Actor
from accounts.models import Supplier
from events.models import Event
from sftp_ingest import services
from sftp_ingest.keys import fingerprints
from sftp_ingest.models import RemoteHost, SftpLogin
from sftp_ingest.server.host_key import public_line
from tests.factories import SftpLoginFactory

pytestmark = pytest.mark.django_db

LOGINS, HOSTS = "/admin/sftp_ingest/sftplogin/", "/admin/sftp_ingest/remotehost/"
ANNA = Actor.system("anna")


@pytest.fixture
def login_form(acme: Supplier) -> dict[str, Any]:
    return {
        "supplier": acme.pk,
        "username": "acme",
        "public_keys": f"{public_line()} laptop",
        "is_active": "on",
        "quota_bytes": 1000,
        "largest_file_bytes": 500,
        "new_password": "first secret",
    }


@pytest.fixture
def host_form(acme: Supplier) -> dict[str, Any]:
    return {
        "supplier": acme.pk,
        "host": "files.acme.example",
        "port": 22,
        "host_key": public_line(),
        "username": "exchange",
        "new_password": "s3cret",
    }


def last_event() -> Event:
    event = Event.objects.latest("id")
    assert event.actor == "user:anna"
    return event


def another_key() -> str:
    key = paramiko.ECDSAKey.generate()
    return f"{key.get_name()} {key.get_base64()}"


def test_a_new_login_is_recorded(page: Client, acme: Supplier, login_form):
    page.post(f"{LOGINS}add/", login_form)

    login, event = SftpLogin.objects.get(), last_event()
    assert (event.type, event.supplier) == ("sftp_login.created", acme)
    assert event.data == {
        "sftp_login_id": login.pk,
        "sftp_login": "acme",
        "supplier_id": acme.pk,
        "username": "acme",
        "is_active": True,
        "quota_bytes": 1000,
        "largest_file_bytes": 500,
        "keys_added": fingerprints(public_line()),
        "password_set": True,
    }


def test_changes_of_a_login_are_recorded(page: Client, login_form):
    page.post(f"{LOGINS}add/", login_form)
    login = SftpLogin.objects.get()
    change = f"{LOGINS}{login.pk}/change/"
    form = {**login_form, "new_password": ""}
    about = {"sftp_login_id": login.pk, "sftp_login": "acme"}

    page.post(change, {**form, "new_password": "second secret"})
    assert last_event().data == {**about, "password_set": True}

    key = another_key()
    page.post(change, {**form, "public_keys": key})
    keys = {"keys_added": fingerprints(key), "keys_removed": fingerprints(public_line())}
    assert last_event().data == {**about, **keys}

    page.post(change, {**form, "public_keys": key, "quota_bytes": 2000, "is_active": ""})
    changed = {"quota_bytes": {"from": 1000, "to": 2000}, "is_active": {"from": True, "to": False}}
    assert last_event().data == {**about, "changed": changed}
    assert last_event().type == "sftp_login.updated"

    recorded = Event.objects.count()
    page.post(change, {**form, "public_keys": key, "quota_bytes": 2000, "is_active": ""})
    assert Event.objects.count() == recorded


def test_a_login_that_moves_is_in_both_suppliers_history(page: Client, rival: Supplier, login_form):
    page.post(f"{LOGINS}add/", login_form)
    former = last_event().supplier
    change = f"{LOGINS}{SftpLogin.objects.get().pk}/change/"
    page.post(change, {**login_form, "new_password": "", "supplier": rival.pk})

    events = Event.objects.filter(type="sftp_login.updated")
    assert {event.supplier for event in events} == {former, rival}


def test_a_concurrent_change_stays_and_is_not_recorded_twice(acme: Supplier):
    login = SftpLoginFactory.create(supplier=acme, quota_bytes=1)
    stale = SftpLogin.objects.get()
    login.quota_bytes = 2
    services.update(login, ["quota_bytes"], by=ANNA)
    stale.is_active = False
    services.update(stale, ["is_active"], by=ANNA)

    assert Event.objects.latest("id").data["changed"] == {"is_active": {"from": True, "to": False}}
    assert SftpLogin.objects.get().quota_bytes == 2


def test_a_remote_host_is_recorded_when_it_is_registered_changed_and_removed(page: Client, acme, host_form):
    page.post(f"{HOSTS}add/", host_form)
    host = RemoteHost.objects.get()
    event = last_event()
    about = {"remote_host_id": host.pk, "remote_host": "files.acme.example:22"}
    assert (event.type, event.supplier) == ("remote_host.created", acme)
    assert event.data == {
        **about,
        "supplier_id": acme.pk,
        "host": "files.acme.example",
        "port": 22,
        "username": "exchange",
        "keys_added": fingerprints(public_line()),
        "password_set": True,
    }

    page.post(f"{HOSTS}{host.pk}/change/", {**host_form, "username": "acme", "new_password": "other"})
    changed = {"username": {"from": "exchange", "to": "acme"}}
    assert last_event().data == {**about, "changed": changed, "password_set": True}

    page.post(f"{HOSTS}{host.pk}/delete/", {"post": "yes"})
    assert (last_event().type, last_event().data) == ("remote_host.deleted", about)


def test_a_login_that_is_removed_is_recorded(page: Client, login_form):
    page.post(f"{LOGINS}add/", login_form)
    login = SftpLogin.objects.get()
    page.post(f"{LOGINS}{login.pk}/delete/", {"post": "yes"})

    assert not SftpLogin.objects.exists()
    assert last_event().type == "sftp_login.deleted"
    assert last_event().data == {"sftp_login_id": login.pk, "sftp_login": "acme"}


def test_no_secret_is_in_the_history(page: Client, login_form, host_form):
    page.post(f"{LOGINS}add/", login_form)
    page.post(f"{HOSTS}add/", host_form)
    login, host = SftpLogin.objects.get(), RemoteHost.objects.get()
    page.post(f"{LOGINS}{login.pk}/change/", {**login_form, "new_password": "second secret"})

    history = str([*Event.objects.values()])
    for secret in ("secret", "s3cret", login.password, host.password, public_line().split()[1]):
        assert secret not in history


def test_no_key_reads_the_history_and_operators_find_it(page: Client, acme: Supplier, login_form, client_for):
    page.post(f"{LOGINS}add/", login_form)

    assert client_for(acme).get("events").json()["results"] == []
    assert b"sftp_login.created" in page.get("/admin/events/event/?area=accounts").content


def test_a_change_that_cannot_be_recorded_is_not_made(acme: Supplier, monkeypatch):
    login = SftpLoginFactory.create(supplier=acme, quota_bytes=1)

    def no_event(*args: object, **fields: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(services, "record", no_event)
    login.quota_bytes = 2
    with pytest.raises(RuntimeError):
        services.update(login, ["quota_bytes"], by=ANNA)
    with pytest.raises(RuntimeError):
        services.delete(login, by=ANNA)

    assert SftpLogin.objects.get().quota_bytes == 1


def test_a_key_that_a_script_has_stored_does_not_stop_a_change(acme: Supplier):
    login = SftpLoginFactory.create(supplier=acme, public_keys="ssh-ed25519 broken")
    login.public_keys = ""
    services.update(login, ["public_keys"], by=ANNA)

    assert Event.objects.get().data["keys_removed"] == ["unreadable key"]

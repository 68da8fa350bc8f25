"""Operators manage logins and hosts. No page ever shows a stored password."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from accounts.models import Supplier
from sftp_ingest.models import RemoteHost, SftpLogin, Upload
from sftp_ingest.remote.connection import RemoteFailed
from sftp_ingest.server.host_key import public_line
from tests.factories import UploadFactory

pytestmark = pytest.mark.django_db


def test_a_login_is_made_with_a_password_that_stays_unless_changed(page: Client, acme: Supplier):
    form: dict[str, Any] = {
        "supplier": acme.pk,
        "username": "acme",
        "public_keys": public_line(),
        "is_active": "on",
        "quota_bytes": 1000,
        "largest_file_bytes": 500,
        "new_password": "first secret",
    }
    page.post("/admin/sftp_ingest/sftplogin/add/", form)
    login = SftpLogin.objects.get()
    assert login.check_password("first secret")
    assert "first secret" not in login.password

    change = f"/admin/sftp_ingest/sftplogin/{login.pk}/change/"
    assert login.password.encode() not in page.get(change).content
    page.post(change, {**form, "quota_bytes": 2000, "new_password": ""})
    login.refresh_from_db()
    assert login.quota_bytes == 2000
    assert login.check_password("first secret")


def test_an_invalid_public_key_is_refused(page: Client, acme: Supplier):
    for keys in ("hello", "ssh-ed25519 AAAA", "ssh-rsa !!!", "ssh-dss AAAAB3NzaC1kc3MAAAA="):
        form = {"supplier": acme.pk, "username": "acme", "public_keys": keys, "quota_bytes": 1}
        answer = page.post("/admin/sftp_ingest/sftplogin/add/", {**form, "largest_file_bytes": 1})
        assert "public key" in answer.content.decode()
    assert not SftpLogin.objects.exists()


def test_a_host_is_registered_with_its_key_and_an_encrypted_password(page: Client, acme: Supplier):
    form: dict[str, Any] = {
        "supplier": acme.pk,
        "host": "Files.Acme.example",
        "port": 22,
        "host_key": "hello",
        "username": "exchange",
        "new_password": "s3cret",
    }
    assert "public key" in page.post("/admin/sftp_ingest/remotehost/add/", form).content.decode()
    page.post("/admin/sftp_ingest/remotehost/add/", {**form, "host_key": public_line()})
    host = RemoteHost.objects.get()

    assert host.host == "files.acme.example"
    assert host.read_password() == "s3cret"
    shown = page.get(f"/admin/sftp_ingest/remotehost/{host.pk}/change/").content.decode()
    assert "s3cret" not in shown
    assert host.password not in shown


def test_a_host_that_is_registered_already_is_refused_with_the_reason(page: Client, acme: Supplier):
    form = {"supplier": acme.pk, "host": "files.acme.example", "port": 22, "host_key": public_line()}
    form |= {"username": "exchange", "new_password": "s3cret"}
    page.post("/admin/sftp_ingest/remotehost/add/", form)
    again = page.post("/admin/sftp_ingest/remotehost/add/", form)

    errors = again.context["adminform"].form.non_field_errors()
    assert errors == ["The supplier has this host and port already. Change that host instead."]
    assert RemoteHost.objects.count() == 1


def test_a_host_that_a_colleague_deletes_during_its_test_is_reported_as_gone(
    page: Client, acme: Supplier, monkeypatch
):
    host = RemoteHost(supplier=acme, host="files.acme.example", host_key=public_line(), username="exchange")
    host.set_password("s3cret")
    host.save()

    def fail(tested: RemoteHost) -> str:
        RemoteHost.objects.all().delete()
        raise RemoteFailed("remote_timeout", "files.acme.example does not answer.")

    monkeypatch.setattr("sftp_ingest.remote.probing.probe", fail)
    answer = page.post(f"/admin/sftp_ingest/remotehost/{host.pk}/do/test/", follow=True)

    assert answer.status_code == 200
    said = [str(message) for message in answer.context["messages"]]
    assert said[0] == "files.acme.example does not answer."
    assert "Perhaps it was deleted?" in said[1]


def test_a_password_is_sent_only_to_the_host_that_it_was_entered_for(page: Client, acme: Supplier):
    form: dict[str, Any] = {
        "supplier": acme.pk,
        "host": "files.acme.example",
        "port": 22,
        "host_key": public_line(),
        "username": "exchange",
        "new_password": "s3cret",
    }
    page.post("/admin/sftp_ingest/remotehost/add/", form)
    host = RemoteHost.objects.get()
    path, unsaid = f"/admin/sftp_ingest/remotehost/{host.pk}/change/", {**form, "new_password": ""}

    for change in ({"host": "evil.example"}, {"port": 2222}, {"username": "other"}):
        assert b"password again" in page.post(path, {**unsaid, **change}).content
    host.refresh_from_db()
    assert (host.host, host.port, host.username) == ("files.acme.example", 22, "exchange")

    assert page.post(path, unsaid).status_code == 302
    page.post(path, {**form, "host": "new.acme.example", "new_password": "another"})
    host.refresh_from_db()
    assert (host.host, host.read_password()) == ("new.acme.example", "another")


def test_a_password_is_not_sent_to_the_host_that_a_colleague_entered_meanwhile(page: Client, acme: Supplier):
    form: dict[str, Any] = {
        "supplier": acme.pk,
        "host": "files.acme.example",
        "port": 22,
        "host_key": public_line(),
        "username": "exchange",
        "new_password": "s3cret",
    }
    page.post("/admin/sftp_ingest/remotehost/add/", form)
    host = RemoteHost.objects.get()
    path = f"/admin/sftp_ingest/remotehost/{host.pk}/change/"
    older_page = {**form, **{f"initial-{name}": value for name, value in form.items()}}
    page.post(path, {**form, "host": "new.acme.example", "new_password": "for the new host"})

    refused = page.post(path, {**older_page, "new_password": "for the old host"})

    assert "A colleague changed this host meanwhile." in refused.content.decode()
    host.refresh_from_db()
    assert (host.host, host.read_password()) == ("new.acme.example", "for the new host")


def test_uploads_are_read_only(page: Client, acme: Supplier, rf):
    upload = UploadFactory.create(supplier=acme, path="products/a.csv")

    assert b"products/a.csv" in page.get("/admin/sftp_ingest/upload/").content
    assert b"products/a.csv" in page.get(f"/admin/sftp_ingest/upload/?supplier__id__exact={acme.pk}").content
    assert page.get("/admin/sftp_ingest/upload/add/").status_code == 403
    assert page.post(f"/admin/sftp_ingest/upload/{upload.pk}/delete/", {"post": "yes"}).status_code == 403
    page.post(f"/admin/sftp_ingest/upload/{upload.pk}/change/", {"path": "x"})
    upload.refresh_from_db()
    assert upload.path == "products/a.csv"
    assert admin.site.is_registered(Upload)

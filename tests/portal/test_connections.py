"""A party's connections: API keys, webhooks, the SFTP login and automatic imports."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.contrib.auth.hashers import check_password
from django.core import mail
from django.test import Client

from accounts.member_roles import MemberRole
from accounts.models import ApiKey
from accounts.operating import bulk_actions
from backoffice.partner_notices import send_notices
from events.models import Delivery, Event, Webhook
from imports.models import AutoImport
from sftp_ingest.models import SftpLogin
from tests.factories import IssuedKeyFactory, WebhookFactory
from tests.portal.conftest import act, browser_of, said

PAGE = "/portal/connections/"
CREATE_KEY = f"{PAGE}do/create-key/"
CREATE_WEBHOOK = f"{PAGE}do/create-webhook/"
ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGHNGBJVc6JYTRCPxBmDiFTaSRpQbbiATAJvOmSLVT2g dev@acme"


@pytest.fixture
def developer(acme, member_of) -> Client:
    return browser_of(member_of(acme, MemberRole.DEVELOPER))


def shown_once(page) -> list[str]:
    return re.findall(r'data-copy="([^"]+)"', page.content.decode())


def test_a_developer_makes_a_key_that_works_and_is_shown_once(developer, acme):
    scopes = {"catalog:read": "on", "inventory:read": "on"}
    page = act(developer, CREATE_KEY, name="Warehouse", **scopes)

    secret, client_id = shown_once(page)
    assert page["Cache-Control"] == "no-store"
    key = ApiKey.objects.get(supplier=acme, name="Warehouse")
    assert (key.prefix, key.scopes) == (client_id, ["catalog:read", "inventory:read"])
    answer = Client().get(f"/v3/suppliers/{acme.pk}/variants", headers={"authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    listed = developer.get(PAGE).content.decode()
    assert client_id in listed
    assert secret not in listed
    assert Event.objects.get(type="api_key.created").actor.startswith("member:")


def test_the_second_of_two_forms_that_are_sent_at_once_shows_no_secret(developer, acme, monkeypatch):
    form = {"form_id": str(uuid4()), "name": "Warehouse", "catalog:read": "on"}
    form["shown_effect"] = developer.get(CREATE_KEY).context["effect"]
    assert shown_once(developer.post(CREATE_KEY, form))

    # The second request asks before the first one has committed.
    answers = iter([lambda form_id: ""])
    was_sent = bulk_actions.was_sent
    monkeypatch.setattr(bulk_actions, "was_sent", lambda form_id: next(answers, was_sent)(form_id))
    again = developer.post(CREATE_KEY, form, follow=True)

    assert not shown_once(again)
    assert "was done only once" in said(again)[0]
    assert ApiKey.objects.filter(supplier=acme, name="Warehouse").count() == 1


def test_a_key_needs_a_right_and_its_networks_are_checked(developer):
    page = act(developer, CREATE_KEY, name="Nothing", allowed_networks="10.0.0.999/8")

    shown = page.content.decode()
    assert "The key has no rights. Choose at least one." in shown
    assert "10.0.0.999/8 is not a network" in shown
    assert not ApiKey.objects.filter(name="Nothing").exists()


def test_a_rotated_key_shows_its_successor_and_a_revoked_key_ends(developer, acme):
    key, _ = IssuedKeyFactory.create(party=acme)
    page = act(developer, f"{PAGE}keys/{key.pk}/do/rotate/")

    assert shown_once(page)[1] != key.prefix
    act(developer, f"{PAGE}keys/{key.pk}/do/revoke/")
    key.refresh_from_db()
    assert key.revoked_at


def test_owners_get_a_mail_about_a_new_key(ana, owner, settings, django_capture_on_commit_callbacks):
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    send_notices()
    act(ana, CREATE_KEY, name="Shop", **{"catalog:read": "on"})
    Event.publish()
    send_notices()

    [sent] = mail.outbox
    assert sent.to == [owner.user.email]
    assert "A new API key was created for Acme" in sent.body


def test_a_webhook_is_made_changed_tested_replayed_and_removed(developer, acme):
    page = act(developer, CREATE_WEBHOOK, url="https://hooks.example/a", types="")
    [secret] = shown_once(page)
    webhook = Webhook.objects.get(supplier=acme)
    assert secret.startswith("whsec_")
    do = f"{PAGE}webhooks/{webhook.pk}/do/"

    act(
        developer, f"{do}edit/", url="https://hooks.example/b", types="fulfillment.created\ninventory.updated"
    )
    webhook.refresh_from_db()
    assert (webhook.url, webhook.types) == (
        "https://hooks.example/b",
        ["fulfillment.created", "inventory.updated"],
    )
    act(developer, f"{do}test/")
    assert Delivery.objects.filter(webhook=webhook).count() == 1
    assert "webhook.tested" in developer.get(f"{PAGE}webhooks/{webhook.pk}/").content.decode()
    assert said(act(developer, f"{do}replay/", after="0")) == ["Events that are sent again: 0."]
    assert shown_once(act(developer, f"{do}rotate/")) != [secret]
    act(developer, f"{do}remove/")
    assert developer.get(f"{PAGE}webhooks/{webhook.pk}/").status_code == 404


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ({"url": "http://hooks.example/"}, "https://"),
        (
            {"url": "https://hooks.example/", "types": "fulfillment.creatd"},
            "Did you mean fulfillment.created?",
        ),
        ({"url": "https://hooks.example/", "types": "order.created"}, "Only retailers receive this type."),
    ],
)
def test_a_wrong_webhook_is_refused_with_the_reason(developer, typed, error):
    assert error in act(developer, CREATE_WEBHOOK, **typed).content.decode()
    assert not Webhook.objects.exists()


def test_a_supplier_makes_its_sftp_login_with_a_password_and_keys(developer, acme):
    page = act(developer, f"{PAGE}sftp/do/create-login/", username="acme-feed", wants_password="on")
    username, password = shown_once(page)
    login = SftpLogin.objects.get(supplier=acme)
    assert username == login.username
    assert check_password(password, login.password)
    do = f"{PAGE}sftp/{login.pk}/do/"

    act(developer, f"{do}change-keys/", public_keys=ED25519)
    assert "SHA256:" in developer.get(PAGE).content.decode()
    act(developer, f"{do}remove-password/")
    act(developer, f"{do}switch-off/")
    login.refresh_from_db()
    assert (login.password, login.is_active) == ("", False)
    again = developer.get(f"{PAGE}sftp/do/create-login/").content.decode()
    assert "There is already an SFTP login" in again


def test_a_login_without_a_key_and_a_password_is_refused(developer):
    page = act(developer, f"{PAGE}sftp/do/create-login/", username="feed", public_keys="ssh-nonsense AAAA")

    assert "is not a public key of a supported kind" in page.content.decode()
    page = act(developer, f"{PAGE}sftp/do/create-login/", username="feed")
    assert "Enter a public key, or let the service make a password." in page.content.decode()
    assert not SftpLogin.objects.exists()


def test_an_owner_sets_up_and_stops_an_automatic_import(ana, acme, a_variant):
    set_up = f"{PAGE}imports/do/set-up-import/"
    assert "A stock file needs a warehouse." in act(ana, set_up, kind="inventory").content.decode()
    a_variant(acme, "LAMP", stock=1)
    warehouse = acme.warehouses.order_by("pk").first()
    act(ana, set_up, kind="inventory", warehouse_id=warehouse.pk)

    automatic = AutoImport.objects.get(supplier=acme)
    assert (automatic.enabled, automatic.options["warehouse_id"]) == (True, warehouse.pk)
    act(ana, f"{PAGE}imports/{automatic.pk}/do/switch-off/")
    automatic.refresh_from_db()
    assert not automatic.enabled


def test_the_page_takes_the_same_queries_for_any_number_of_connections(
    ana, acme, django_assert_max_num_queries
):
    for _ in range(5):
        IssuedKeyFactory.create(party=acme)
        WebhookFactory.create(supplier=acme, retailer=None)
    ana.get(PAGE)
    with django_assert_max_num_queries(14):
        assert ana.get(PAGE).status_code == 200

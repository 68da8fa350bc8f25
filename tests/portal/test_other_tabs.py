"""Forms that a member opened before something else changed: the party, or a record."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from accounts.member_roles import MemberRole
from events.models import Webhook
from imports.models import AutoImport
from portal.visitors import CHOSEN
from sftp_ingest.models import SftpLogin
from tests.factories import SftpLoginFactory, WebhookFactory
from tests.portal.conftest import act, browser_of, said

KEYS = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGHNGBJVc6JYTRCPxBmDiFTaSRpQbbiATAJvOmSLVT2g one",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEQv8c0mXWe1mF0sP2b4x3m1b4h0d1m1n1Xy1Zl9b2Jk two",
]


def hidden(page):
    """Return the hidden inputs of the page's form."""
    tags = re.findall(r'<input type="hidden"[^>]*>', page.text)
    pairs = (re.search(r'name="([^"]+)" value="([^"]*)"', tag) for tag in tags)
    return {found[1]: html.unescape(found[2]) for found in pairs if found}


@pytest.fixture
def bob(acme, member_of):
    return browser_of(member_of(acme, MemberRole.DEVELOPER, user__username="bob@acme.example"))


def test_a_form_that_was_opened_for_another_party_is_refused(acme, rival, owner, member_of):
    second = member_of(rival, user=owner.user)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner.user)
    choose = browser.get("/portal/choose/")
    browser.post("/portal/choose/", {**hidden(choose), "member": owner.pk})
    form = browser.get("/portal/connections/do/set-up-import/")

    browser.post("/portal/choose/", {**hidden(browser.get("/portal/choose/")), "member": second.pk})
    answer = browser.post("/portal/connections/do/set-up-import/", {**hidden(form), "kind": "products"})

    assert answer.status_code == 403
    assert "chose a party" in answer.text
    assert not AutoImport.objects.exists()


def test_a_member_who_was_removed_from_the_chosen_party_chooses_again(ana, acme, rival, owner, member_of):
    member_of(rival, user=owner.user)
    session = ana.session
    session[CHOSEN] = owner.pk
    session.save()
    type(owner).objects.filter(pk=owner.pk).update(removed_at="2026-01-01T00:00Z")

    assert ana.get("/portal/team/")["Location"] == "/portal/choose/?next=/portal/team/"


def test_a_webhook_that_a_colleague_changed_is_shown_as_it_is_now(ana, bob, acme):
    webhook = WebhookFactory.create(supplier=acme, retailer=None, url="https://old.example.com/x")
    path = f"/portal/connections/webhooks/{webhook.pk}/do/edit/"
    form = hidden(ana.get(path))
    act(bob, path, url="https://new.example.com/y", types="variant.updated")

    page = ana.post(path, {**form, "url": "https://old.example.com/x", "types": "variant.created"})

    assert "was changed while this page was open" in said(page)[0]
    assert "https://new.example.com/y" in page.text
    assert Webhook.objects.get().url == "https://new.example.com/y"


def test_a_key_that_a_colleague_removed_does_not_come_back(ana, bob, acme):
    login = SftpLoginFactory.create(supplier=acme, public_keys="\n".join(KEYS))
    path = f"/portal/connections/sftp/{login.pk}/do/change-keys/"
    form = hidden(ana.get(path))
    act(bob, path, public_keys=KEYS[0])

    page = ana.post(path, {**form, "public_keys": "\n".join(KEYS)})

    assert "was changed while this page was open" in said(page)[0]
    assert SftpLogin.objects.get().public_keys.strip() == KEYS[0]

"""Signing in to the portal, invitations, and the choice of a party."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.utils import timezone

from accounts.member_roles import MemberRole
from accounts.models import Invitation, Member
from portal.entry.forms import JoinForm
from tests.factories import InvitationFactory, StaffFactory, UserFactory
from tests.portal.conftest import browser_of

PASSWORD = "a long enough passphrase"


@pytest.fixture
def with_password(owner):
    owner.user.set_password(PASSWORD)
    owner.user.save(update_fields=["password"])
    return owner


def sign_in(client, email, password=PASSWORD, **more):
    return client.post("/portal/login/", {"username": email, "password": password, **more})


def test_a_member_signs_in_with_the_address_in_any_case_and_lands_on_the_wanted_page(client, with_password):
    asked = client.get("/portal/team/")
    assert asked.url == "/portal/login/?next=/portal/team/"

    answer = sign_in(client, "ANA@acme.example", next="/portal/team/")

    assert answer.url == "/portal/team/"
    assert "Ana" in client.get("/portal/team/").content.decode()


@pytest.mark.parametrize(
    ("email", "password"), [("ana@acme.example", "wrong"), ("nobody@acme.example", PASSWORD)]
)
def test_a_wrong_password_and_an_unknown_address_get_the_same_answer(client, with_password, email, password):
    page = sign_in(client, email, password)
    assert "The e-mail address or the password is wrong." in page.content.decode()


def test_members_cannot_enter_the_admin_and_operators_cannot_enter_the_portal(client, with_password):
    user = StaffFactory.create(username="olga@example.com")
    user.set_password(PASSWORD)
    user.save(update_fields=["password"])

    assert "password is wrong" in sign_in(client, "olga@example.com").content.decode()
    refused = client.post("/admin/login/", {"username": "ana@acme.example", "password": PASSWORD})
    assert refused.status_code == 200
    assert "_auth_user_id" not in client.session


def test_attempts_to_sign_in_are_limited(client, with_password):
    for _ in range(10):
        sign_in(client, "ana@acme.example", "wrong")

    assert "Too many tries" in sign_in(client, "ana@acme.example").content.decode()


def test_a_member_of_two_parties_chooses_one_and_returns_to_the_page(shop, owner, member_of, ana):
    second = member_of(shop, user=owner.user)
    assert ana.get("/portal/team/").url == "/portal/choose/?next=/portal/team/"

    chosen = ana.post("/portal/choose/", {"member": second.pk, "next": "/portal/team/"})
    assert chosen.url == "/portal/team/"
    assert "Shop" in ana.get("/portal/team/").content.decode()
    assert ana.post("/portal/choose/", {"member": 10**9}, follow=True).status_code == 200
    assert "Shop" in ana.get("/portal/team/").content.decode()


def test_an_invited_person_joins_with_a_name_and_a_password(client, acme):
    invitation, token = InvitationFactory.create(party=acme, email="bo@acme.example")
    path = f"/portal/invitation/{token}/"
    assert "Acme invites" in client.get(path).content.decode()

    answers = {"name": "Bo", "password": PASSWORD, "again": PASSWORD}
    answer = client.post(path, answers)

    assert answer.url == "/portal/"
    member = Member.objects.get(supplier=acme)
    assert (member.name, member.user.email, member.member_role) == ("Bo", "bo@acme.example", "orders")
    assert client.get("/portal/team/").status_code == 200
    assert client.post(path, answers).status_code == 410


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ({"name": "", "password": PASSWORD, "again": PASSWORD}, "This field is required."),
        ({"name": "Bo", "password": PASSWORD, "again": "other"}, "Type the same password twice."),
        ({"name": "Bo", "password": "short", "again": "short"}, "This password is too short."),
    ],
)
def test_a_wrong_form_of_an_invitation_is_explained_and_the_link_still_works(client, acme, answers, error):
    _, token = InvitationFactory.create(party=acme)

    page = client.post(f"/portal/invitation/{token}/", answers)

    assert error in page.content.decode()
    assert client.get(f"/portal/invitation/{token}/").status_code == 200


def test_an_invited_person_with_an_account_needs_its_password(client, shop, with_password):
    _, token = InvitationFactory.create(party=shop, email="ana@acme.example")
    path = f"/portal/invitation/{token}/"
    assert "password is wrong" in client.post(path, {"password": "wrong"}).content.decode()

    client.post(path, {"password": PASSWORD})

    assert "Shop" in client.get("/portal/team/").content.decode()
    assert with_password.user.memberships.count() == 2


def test_an_account_that_appears_meanwhile_is_not_entered_without_its_password(client, acme, monkeypatch):
    _, token = InvitationFactory.create(party=acme, email="bo@acme.example")
    path, answers = f"/portal/invitation/{token}/", {"name": "Bo", "password": PASSWORD, "again": PASSWORD}
    checked = JoinForm.clean

    def clean_after_another_invitation(form):
        UserFactory.create(username="bo@acme.example")
        return checked(form)

    monkeypatch.setattr(JoinForm, "clean", clean_after_another_invitation)
    page = client.post(path, answers)

    assert "has an account now" in page.text
    assert not Member.objects.exists()
    assert client.get("/portal/").status_code == 302
    assert "again" not in client.get(path).context["form"].fields


@pytest.mark.parametrize("end", ["expires_at", "revoked_at", "accepted_at", "unknown"])
def test_a_link_that_does_not_work_shows_one_page_that_reveals_nothing(client, acme, end):
    invitation, token = InvitationFactory.create(party=acme)
    if end == "unknown":
        token = "x" * 43
    else:
        Invitation.objects.filter(pk=invitation.pk).update(**{end: timezone.now()})

    page = client.get(f"/portal/invitation/{token}/")

    assert page.status_code == 410
    text = page.content.decode()
    assert "used, revoked or expired" in text
    assert "Acme" not in text
    assert invitation.email not in text


def test_a_party_can_require_a_second_factor(ana, acme):
    type(acme).objects.update(members_need_second_factor=True)

    assert ana.get("/portal/team/").url == "/portal/second-factor/"
    page = ana.get("/portal/second-factor/").content.decode()
    assert "Your party requires a second factor." in page
    assert "Set up app" in page


def test_a_forgotten_password_is_reset_by_mail_and_never_an_operators(client, with_password, settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    StaffFactory.create(username="olga", email="olga@example.com")
    for email in ("olga@example.com", "stranger@example.com", "ana@acme.example"):
        assert client.post("/portal/password/", {"email": email}).url == "/portal/password/sent/"

    [sent] = mail.outbox
    assert sent.to == ["ana@acme.example"]
    [path] = re.findall(r"http://testserver(/portal/password/\S+)", str(sent.body))
    form = client.get(path).url
    client.post(form, {"password1": "another long passphrase", "password2": "another long passphrase"})
    assert sign_in(client, "ana@acme.example", "another long passphrase").url == "/portal/"


@pytest.mark.parametrize("email", ["ana@acme.example", "stranger@example.com"])
def test_a_mail_server_that_does_not_answer_reveals_no_account(client, with_password, monkeypatch, email):
    def refuse(*args, **kwargs):
        raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.message.EmailMessage.send", refuse)
    assert client.post("/portal/password/", {"email": email}).url == "/portal/password/sent/"


def test_signing_out_needs_a_press_of_the_button(ana):
    assert "Sign out" in ana.get("/portal/account/").content.decode()
    assert ana.get("/portal/team/").status_code == 200

    ana.post("/portal/account/")
    assert ana.get("/portal/team/").url.startswith("/portal/login/")


def test_pages_have_a_strict_content_security_policy_and_are_not_cached(ana):
    page = ana.get("/portal/team/")
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert page["Cache-Control"] == "no-store"


def test_a_viewer_reads_the_team_without_its_log(acme, member_of):
    page = browser_of(member_of(acme, MemberRole.VIEWER)).get("/portal/team/").content.decode()
    assert "Members" in page
    assert "Invite member" not in page

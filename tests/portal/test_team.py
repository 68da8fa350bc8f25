"""A party's team: invitations, roles, removal, the log, and visits of operators."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.member_roles import MemberRole
from accounts.models import Invitation, Member
from events.models import Event
from tests.backoffice.conftest import do, messages, operator  # noqa: F401
from tests.factories import InvitationFactory, StaffFactory
from tests.portal.conftest import act, browser_of, said

INVITE = "/portal/team/do/invite/"
BO = {"email": "Bo@acme.example", "member_role": "orders"}


@pytest.fixture
def bo(acme, member_of):
    return member_of(acme, MemberRole.ORDERS, user__first_name="Bo")


def test_an_owner_invites_a_colleague_by_a_link_that_is_shown_once(
    ana, acme, settings, django_capture_on_commit_callbacks
):
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    with django_capture_on_commit_callbacks(execute=True):
        page = act(ana, INVITE, **BO)

    [token] = re.findall(r"/portal/invitation/([^/]+)/<", page.content.decode())
    invitation = Invitation.objects.get(supplier=acme)
    assert (invitation.email, invitation.member_role) == ("bo@acme.example", "orders")
    assert token not in invitation.digest
    [sent] = mail.outbox
    assert token in sent.body
    assert Event.objects.get(type="member.invited").actor.startswith("member:")
    assert "bo@acme.example" in ana.get("/portal/team/").content.decode()


def test_an_invitation_that_is_sent_twice_is_made_once(ana):
    page = ana.get(INVITE)
    [form_id] = re.findall(r'name="form_id" value="([^"]+)"', page.content.decode())
    ana.post(INVITE, {**BO, "form_id": form_id})

    again = ana.post(INVITE, {**BO, "form_id": form_id}, follow=True)

    assert said(again)[0].startswith("This form was already sent, and was done only once")
    assert Invitation.objects.count() == 1


def test_a_second_invitation_of_an_address_replaces_the_first(ana):
    act(ana, INVITE, **BO)
    act(ana, INVITE, **{**BO, "member_role": "viewer"})

    first, second = Invitation.objects.order_by("id")
    assert first.revoked_at is not None
    assert second.revoked_at is None


def test_operators_and_members_are_not_invited(ana):
    StaffFactory.create(username="olga@example.com")

    assert "belongs to an operator" in str(
        said(act(ana, INVITE, email="olga@example.com", member_role="viewer"))
    )
    assert "already a member" in str(said(act(ana, INVITE, email="ana@acme.example", member_role="viewer")))
    assert not Invitation.objects.exists()


def test_the_address_of_an_operator_with_another_user_name_is_not_invited(ana):
    StaffFactory.create(username="olga", email="Olga@exchange.example")

    page = act(ana, INVITE, email="olga@exchange.example", member_role="viewer")

    assert "belongs to an operator" in str(said(page))
    assert not Invitation.objects.exists()


def test_an_invited_person_who_became_an_operator_does_not_join(acme, client):
    invitation, token = InvitationFactory.create(party=acme, email="olga@exchange.example")
    StaffFactory.create(username="olga", email="olga@exchange.example")

    sent = {"name": "Olga", "password": "a long pass phrase", "again": "a long pass phrase"}
    page = client.post(f"/portal/invitation/{token}/", sent)

    assert "belongs to an operator" in page.text
    assert not Member.objects.exists()
    invitation.refresh_from_db()
    assert invitation.accepted_at is None


def test_an_invitation_can_be_revoked(ana):
    act(ana, INVITE, **BO)
    invitation = Invitation.objects.get()

    page = act(ana, f"/portal/team/invitations/{invitation.pk}/do/revoke/")

    assert said(page) == ["The invitation of bo@acme.example was revoked."]
    assert "Open invitations" not in page.content.decode()


def test_an_owner_changes_a_role_and_removes_a_member_and_the_log_names_the_owner(ana, bo):
    act(ana, f"/portal/team/members/{bo.pk}/do/change-role/", member_role="catalog")
    bo.refresh_from_db()
    assert bo.member_role == "catalog"

    page = act(ana, f"/portal/team/members/{bo.pk}/do/remove/").content.decode()

    assert browser_of(bo).get("/portal/team/").status_code == 302
    assert "Member role changed" in page
    assert "Member removed" in page
    assert "Ana (Acme)" in page


def test_the_only_owner_cannot_be_removed(ana, owner, bo):
    path = f"/portal/team/members/{owner.pk}/do"
    assert "only owner" in ana.get(f"{path}/remove/").content.decode()
    assert "only owner" in str(said(act(ana, f"{path}/change-role/", member_role="viewer")))

    Member.objects.filter(pk=bo.pk).update(member_role="owner")
    act(ana, f"{path}/change-role/", member_role="viewer")
    owner.refresh_from_db()
    assert owner.member_role == "viewer"


def test_a_form_that_came_too_late_shows_the_new_state_and_the_typed_text(ana, bo):
    path = f"/portal/team/members/{bo.pk}/do/change-role/"
    ana.get(path)
    Member.objects.filter(pk=bo.pk).update(removed_at="2026-01-01T00:00Z")

    page = ana.post(path, {"member_role": "viewer"}).content.decode()

    assert "This member was removed." in page
    assert "Your text" in page
    assert "viewer" in page


def test_an_owner_requires_a_second_factor_of_all(ana, acme):
    act(ana, "/portal/team/do/require-second-factor/")
    acme.refresh_from_db()
    assert acme.members_need_second_factor


def test_the_team_page_takes_the_same_queries_for_any_size(ana, acme, member_of):
    def count():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            ana.get("/portal/team/")
        return len(captured)

    before = count()
    for _ in range(3):
        member_of(acme, MemberRole.VIEWER)
    act(ana, INVITE, **BO)
    assert count() <= before + 1  # one query for the names of actors in the log


def test_an_operator_invites_the_first_owner_on_the_page_of_the_party(operator, acme):  # noqa: F811
    page = do(operator, acme, "invite", email="ana@acme.example", member_role="owner")

    assert "/portal/invitation/" in page.content.decode()
    team = operator.get(f"/admin/accounts/supplier/{acme.pk}/team/").content.decode()
    assert "Invite the first owner." in team


def test_an_operator_sees_the_portal_as_a_member_and_cannot_change_anything(operator, owner, ana):  # noqa: F811
    page = do(operator, owner, "see-as")
    assert "You see the portal as Ana (Acme)." in page.content.decode()

    assert operator.get("/portal/team/").status_code == 200
    refused = operator.post(INVITE, BO)
    assert refused.status_code == 403
    assert "you can only read" in refused.content.decode()
    assert not Invitation.objects.exists()
    assert "Member seen as" in ana.get("/portal/team/").content.decode()

    assert operator.get("/portal/end-visit/").url == f"/admin/accounts/supplier/{owner.supplier_id}/team/"
    assert operator.get("/portal/team/").url == "/portal/choose/?next=/portal/team/"


def test_the_page_of_a_member_shows_the_address_and_leads_operators_to_no_refusal(operator, owner):  # noqa: F811
    page = operator.get(f"/admin/accounts/member/{owner.pk}/change/").text
    assert owner.user.email in page
    assert "/admin/auth/user/" not in page


def test_a_visit_of_an_operator_ends_after_half_an_hour(operator, owner, acme, monkeypatch):  # noqa: F811
    do(operator, owner, "see-as")
    assert operator.get("/portal/team/").status_code == 200
    later = timezone.now() + timedelta(minutes=31)
    monkeypatch.setattr("portal.visitors.timezone.now", lambda: later)

    ended = operator.get("/portal/team/", follow=True)

    assert ended.redirect_chain[0][0] == f"/admin/accounts/member/{owner.pk}/change/"
    assert "Your visit of the portal ended after 30 minutes." in ended.content.decode()

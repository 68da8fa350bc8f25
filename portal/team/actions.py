"""Actions on a party's team, for its owners. The admin offers most of these actions to operators."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils import timezone

from accounts.actors import Actor
from accounts.member_roles import MemberRole, described_choices
from accounts.models import Invitation, Member, Retailer, Supplier
from accounts.operating.operator_actions import AdminAction
from portal.team import services


class InviteForm(forms.Form):
    """The form with the e-mail address and the role of a new member."""

    email = forms.EmailField(label="E-mail address", max_length=150)
    member_role = forms.ChoiceField(label="Role", choices=described_choices, initial=MemberRole.ORDERS)


class RoleForm(forms.Form):
    """The form with the new role of a member."""

    member_role = forms.ChoiceField(label="Role", choices=described_choices)


def _no_objection(record: object) -> str:
    return ""


def _invite(party: Supplier | Retailer, by: Actor, answers: dict[str, Any]) -> str:
    email = answers["email"]
    _, token = services.invite(party, email=email, member_role=answers["member_role"], by=by)
    party.fresh_link = services.invitation_link(token)  # type: ignore[union-attr]  # for the page that shows it once
    return f"The invitation for {email} was created."


def _require(party: Supplier | Retailer, by: Actor, answers: dict[str, object]) -> str:
    services.require_second_factor(party, required=True, by=by)
    return "All members need a second factor now."


def _stop_requiring(party: Supplier | Retailer, by: Actor, answers: dict[str, object]) -> str:
    services.require_second_factor(party, required=False, by=by)
    return "Members may sign in without a second factor."


def _revoke(invitation: Invitation, by: Actor, answers: dict[str, object]) -> str:
    services.revoke(invitation, by=by)
    return f"The invitation of {invitation.email} was revoked."


def _not_open(invitation: Invitation) -> str:
    if invitation.accepted_at:
        return "This invitation was used."
    if invitation.revoked_at:
        return "This invitation is already revoked."
    return "This invitation is expired." if invitation.expires_at <= timezone.now() else ""


def _change_role(member: Member, by: Actor, answers: dict[str, Any]) -> str:
    services.change_role(member, answers["member_role"], by=by)
    return f"{member.name} has the role {member.role_label} now."


def _remove(member: Member, by: Actor, answers: dict[str, object]) -> str:
    services.remove(member, by=by)
    return f"{member.name} was removed."


def _removed(member: Member) -> str:
    return "This member was removed." if member.removed_at else ""


def _cannot_remove(member: Member) -> str:
    return _removed(member) or (services.LAST_OWNER if member.is_last_owner() else "")


INVITE = AdminAction[Any](
    "invite",
    "Invite member",
    _invite,
    _no_objection,
    lambda party: f"A person gets access to {party}.",
    form=lambda party, sent: InviteForm(sent),
    help_text="The link works once, for 7 days. The next page shows it, even if no mail is sent.",
    undo="Revoke the invitation, or remove the member.",
)
PARTY_ACTIONS = (
    INVITE,
    AdminAction[Any](
        "require-second-factor",
        "Require second factor",
        _require,
        lambda party: "This is already required." if party.members_need_second_factor else "",
        lambda party: f"Every member of {party} must set up an app or a passkey at the next page.",
        undo="Stop requiring it.",
    ),
    AdminAction[Any](
        "stop-requiring-second-factor",
        "Stop requiring second factor",
        _stop_requiring,
        lambda party: "" if party.members_need_second_factor else "A second factor is not required.",
        lambda party: f"Members of {party} may sign in with their password only.",
        undo="Require it again.",
        danger=True,
    ),
)
INVITATION_ACTIONS = (
    AdminAction[Invitation](
        "revoke",
        "Revoke invitation",
        _revoke,
        _not_open,
        lambda invitation: f"The link that {invitation.email} got stops working.",
        undo="Invite the address again.",
        danger=True,
    ),
)
MEMBER_ACTIONS = (
    AdminAction[Member](
        "change-role",
        "Change role",
        _change_role,
        _removed,
        lambda member: f"{member.name} has the role {member.role_label} now.",
        form=lambda member, sent: RoleForm(sent, initial={"member_role": member.member_role}),
        undo="Change the role back.",
    ),
    AdminAction[Member](
        "remove",
        "Remove member",
        _remove,
        _cannot_remove,
        lambda member: f"{member.name} loses access at once. Histories keep the name.",
        undo="Invite the person again.",
        danger=True,
    ),
)

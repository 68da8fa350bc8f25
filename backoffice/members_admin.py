"""Admin pages of members and invitations: roles, removal, and visits of the portal as a member."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.actors import Actor
from accounts.models import Invitation, Member
from accounts.operating.admin_actions import ActingFormAdmin
from accounts.operating.admin_base import ReadOnlyAdmin
from accounts.operating.operator_actions import AdminAction
from portal.team.actions import INVITATION_ACTIONS, MEMBER_ACTIONS
from portal.team.services import record_visit
from portal.visitors import start_visit


def _see_as(member: Member, by: Actor, answers: dict[str, object]) -> str:
    record_visit(member, by=by)
    member.is_visited = True  # type: ignore[attr-defined]  # `after_action` reads it
    return f"You see the portal as {member}."


SEE_AS = AdminAction[Member](
    "see-as",
    "See portal as member",
    _see_as,
    lambda member: "This member was removed." if member.removed_at else "",
    lambda member: f"You see the pages of {member}, and cannot change anything there.",
    help_text="The visit ends after 30 minutes. It is recorded, and owners of the party can read that it took"
    " place.",
    undo="Press End visit in the portal.",
)


@admin.register(Member)
class MemberAdmin(ActingFormAdmin[Member], ReadOnlyAdmin[Member]):
    """The admin of members. Operators invite the first owner on the party's page."""

    list_display = ("id", "name", "party", "member_role", "created_at", "removed_at")
    list_display_links = ("id", "name")
    list_select_related = ("user", "supplier", "retailer")
    list_filter = ("member_role",)
    fields = ("name", "email", "supplier", "retailer", "member_role", "created_at", "removed_at")
    readonly_fields = fields
    record_actions = (SEE_AS, *MEMBER_ACTIONS)
    acts_with = ("user", "supplier", "retailer")

    @admin.display(description="e-mail address")
    def email(self, member: Member) -> str:
        return member.user.email

    def after_action(self, request: HttpRequest, record: Member, after: str) -> HttpResponse:
        if not getattr(record, "is_visited", False):
            return super().after_action(request, record, after)
        start_visit(request, record)
        return HttpResponseRedirect(reverse("portal:today"))


@admin.register(Invitation)
class InvitationAdmin(ActingFormAdmin[Invitation], ReadOnlyAdmin[Invitation]):
    """The admin of invitations. The link of an invitation is shown once, right after its creation."""

    list_display = ("id", "email", "party", "member_role", "expires_at", "accepted_at", "revoked_at")
    list_select_related = ("supplier", "retailer")
    fields = (
        "email",
        "supplier",
        "retailer",
        "member_role",
        "invited_by",
        "created_at",
        "expires_at",
        "accepted_at",
        "revoked_at",
    )
    readonly_fields = fields
    record_actions = INVITATION_ACTIONS
    acts_with = ("supplier", "retailer")

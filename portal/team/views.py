"""The pages of a party's team."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import Invitation, Member
from portal.acting import PortalActionPage
from portal.pages import PortalPage
from portal.team.actions import INVITATION_ACTIONS, MEMBER_ACTIONS, PARTY_ACTIONS
from portal.team.selectors import open_invitations, team, team_log


class TeamPage(PortalPage):
    """The page of members, open invitations, and the log of the team."""

    template = "portal/team.html"
    section = title = "Team"
    right = Right.MEMBERS

    def context(self) -> dict[str, object]:
        return {
            "members": team(self.party),
            "invitations": open_invitations(self.party),
            "log": team_log(self.party) if self.visitor.member.may(Right.MEMBERS) else None,
        }


class TeamActionPage(PortalActionPage):
    """The page of an action on the party itself, on a member or on an invitation."""

    section = "Team"
    right = Right.MEMBERS

    def back(self) -> str:
        return reverse("portal:team")

    def record_name(self) -> str:
        return "Team"


class PartyActionPage(TeamActionPage):
    """The page of an action on the party: invite a member, or require a second factor."""

    actions = PARTY_ACTIONS

    def of_party(self) -> QuerySet[Any]:
        return type(self.party).objects.filter(pk=self.party.pk)

    def find(self, pk: int = 0, action: str = "", **kwargs: Any) -> None:
        super().find(pk=self.party.pk, action=action)

    def after_action(self) -> HttpResponse:
        """Show the link of a new invitation. The link cannot be shown again: only its digest is stored."""
        link = getattr(self.record, "fresh_link", "")
        if not link:
            return super().after_action()
        context = {"title": "Member invited", "link": link, "back": self.back()}
        return TemplateResponse(self.request, "portal/invited.html", context)


class MemberActionPage(TeamActionPage):
    actions = MEMBER_ACTIONS

    def of_party(self) -> QuerySet[Member]:
        return Member.objects.of_party(self.party).select_related("user", "supplier", "retailer")


class InvitationActionPage(TeamActionPage):
    actions = INVITATION_ACTIONS

    def of_party(self) -> QuerySet[Invitation]:
        return Invitation.objects.of_party(self.party).select_related("supplier", "retailer")

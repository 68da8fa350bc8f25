"""The visitor of a portal page: a member, or an operator who sees the portal as a member."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.utils import timezone

from accounts.actors import Actor
from accounts.member_roles import Right
from accounts.models import Member, Retailer, Supplier, Suspension
from accounts.sign_in import has_second_factor
from portal.navigation import navigation

PATH = "/portal/"
CHOSEN = "portal_member"
"""The session key for the id of the chosen membership."""
SEEN_AS = "portal_seen_as"
"""The session key for an operator's visit: the id of the member, and the end of the visit."""
VISIT = timedelta(minutes=30)
"""The length of an operator's visit."""
MOST_MEMBERSHIPS = 50


@dataclass(frozen=True)
class Visitor:
    """A member of one party, or an operator who sees the portal as this member."""

    member: Member
    operator: User | None = None

    @property
    def party(self) -> Supplier | Retailer:
        return self.member.party

    @property
    def actor(self) -> Actor:
        return Actor.of_member(self.member)

    @property
    def read_only(self) -> bool:
        return self.operator is not None

    def may(self, right: Right | None) -> bool:
        """Return whether the visitor may make changes that need this right."""
        return not self.read_only and self.member.may(right)

    def lacks_second_factor(self) -> bool:
        """Return whether the party requires a second factor that the member has not set up."""
        required = self.party.members_need_second_factor and not self.read_only
        return required and not has_second_factor(self.member.user)


def visitor_of(request: HttpRequest) -> Visitor | None:
    """Return the visitor of a request, or None without a chosen party. The request caches the result."""
    if not hasattr(request, "_visitor"):
        request._visitor = _find(request)  # type: ignore[attr-defined]
    found: Visitor | None = request._visitor  # type: ignore[attr-defined]
    return found


def memberships(user: User | AnonymousUser) -> list[Member]:
    """Return the active memberships of a user. Operators have no memberships."""
    if not user.is_authenticated or user.is_staff:
        return []
    members = Member.objects.active().filter(user=user)
    return list(members.select_related("user", "supplier", "retailer")[:MOST_MEMBERSHIPS])


def _find(request: HttpRequest) -> Visitor | None:
    user = getattr(request, "user", None)  # a request that failed early has no `user`
    if user is None or not user.is_authenticated:
        return None
    if user.is_staff:
        return _seen_by(user, request.session.get(SEEN_AS))
    members = memberships(user)
    chosen = request.session.get(CHOSEN)
    found = [member for member in members if member.pk == chosen]
    if chosen is None and len(members) == 1:
        found = members
    return Visitor(found[0]) if found else None


def start_visit(request: HttpRequest, member: Member) -> None:
    """Let an operator see the portal as this member for some time."""
    request.session[SEEN_AS] = {"member": member.pk, "until": (timezone.now() + VISIT).timestamp()}


def _seen_by(operator: User, visit: dict[str, Any] | None) -> Visitor | None:
    if visit is None or not operator.is_active or visit["until"] <= timezone.now().timestamp():
        return None
    member_id = visit["member"]
    members = Member.objects.active().select_related("user", "supplier", "retailer")
    member = members.filter(pk=member_id).first()
    return Visitor(member, operator) if member else None


def portal_context(request: HttpRequest) -> dict[str, Any]:
    """Return the template context that all pages of the portal need, including allauth's pages.

    For pages outside the portal, return only whether the service can send mails.
    """
    mail = {"mail_works": bool(settings.EMAIL_URL)}
    if not request.path.startswith(PATH):
        return mail
    context: dict[str, object] = {
        "frame": "portal/base.html",
        "entrance": "portal/entrance.html",
        "site_header": "The Exchange",
        "site_title": "The Exchange",
        **mail,
    }
    visitor = visitor_of(request)
    if visitor is None:
        return context
    return {
        **context,
        "visitor": visitor,
        "member": visitor.member,
        "party": visitor.party,
        "navigation": navigation(visitor.party.role),
        "suspension": Suspension.objects.in_force().about(visitor.party).first(),
        "must_set_up": visitor.lacks_second_factor(),
    }

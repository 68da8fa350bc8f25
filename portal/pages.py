"""The base of all portal pages. Only this module checks the sign-in, the party, the record and the role.

The order of the checks is fixed:

1. A user who is not signed in, or has not chosen a party, is redirected to the page for this step.
2. A member without a second factor that the party requires is redirected to the page that sets it up.
3. A page that the party's role does not have, or a record of another party, gets 404.
4. A change by an operator on a visit, or a request for which the member's role lacks the right, gets 403.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.generic import View

from accounts.actors import Actor
from accounts.member_roles import Right
from accounts.models import Retailer, Supplier
from accounts.scopes import Role
from portal.error_pages import ReadOnlyVisit, RoleMissing
from portal.navigation import BOTH, navigation
from portal.visitors import SEEN_AS, Visitor, visitor_of


class PortalPage(View):
    """A page of the portal. Subclasses set their template, menu section, `sides` (roles) and right."""

    template: ClassVar[str]
    section: ClassVar[str]
    title: ClassVar[str] = ""
    sides: ClassVar[frozenset[Role]] = BOTH
    right: ClassVar[Right | None]
    """The right that a change needs. None if all members may make the change, such as a choice of mails."""
    is_secret: ClassVar[bool] = False
    """Whether reading needs the right, too."""
    visitor: Visitor

    @property
    def party(self) -> Supplier | Retailer:
        return self.visitor.party

    @property
    def supplier(self) -> Supplier:
        """Return the party of a page that only suppliers have."""
        assert isinstance(self.party, Supplier)
        return self.party

    @property
    def retailer(self) -> Retailer:
        """Return the party of a page that only retailers have."""
        assert isinstance(self.party, Retailer)
        return self.party

    @property
    def actor(self) -> Actor:
        return self.visitor.actor

    @property
    def may_change(self) -> bool:
        return self.visitor.may(self.right)

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        visitor = visitor_of(request)
        if visitor is None:
            return _entrance(request)
        self.visitor = visitor
        if visitor.lacks_second_factor():
            return HttpResponseRedirect(reverse("mfa_index"))
        if self.party.role not in self.sides:
            raise Http404
        self.find(**kwargs)
        reads = request.method in ("GET", "HEAD")
        if not reads and visitor.read_only:
            raise ReadOnlyVisit
        if self.right is not None and self.needs_right() and not visitor.member.may(self.right):
            raise RoleMissing(self.right)
        return super().dispatch(request, *args, **kwargs)

    def needs_right(self) -> bool:
        """Return whether the request needs `right`: to read a secret page, or to change anything."""
        return self.is_secret or self.request.method not in ("GET", "HEAD")

    def find(self, **kwargs: Any) -> None:
        """Set the record that the URL names. Raises Http404 if the party has no such record."""

    def get(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        return self.render(self.context())

    def context(self) -> dict[str, object]:
        """Return the template's variables."""
        return {}

    def render(self, context: dict[str, object]) -> TemplateResponse:
        known = {
            "title": self.title,
            "may_change": self.may_change,
            "navigation": navigation(self.party.role, self.section),
        }
        return TemplateResponse(self.request, self.template, {**known, **context})


class PortalRecordPage(PortalPage):
    """A page about one record of the party."""

    record: Any

    def of_party(self) -> QuerySet[Any]:
        """Return the records of the party. The record of a URL is looked up only in this queryset."""
        raise NotImplementedError

    def find(self, pk: int = 0, **kwargs: Any) -> None:
        record: Model | None = self.of_party().filter(pk=pk).first()
        if record is None:
            raise Http404
        self.record = record


def _entrance(request: HttpRequest) -> HttpResponse:
    """Redirect a user without a party to the sign-in page or to the choice of a party.

    Redirect an operator whose visit has ended to the member's page in the admin.
    """
    if visit := request.session.pop(SEEN_AS, None):
        messages.warning(
            request, "Your visit of the portal ended after 30 minutes. Start it again to continue."
        )
        return HttpResponseRedirect(f"/admin/accounts/member/{visit['member']}/change/")
    if request.user.is_authenticated:
        return redirect_to_login(request.get_full_path(), reverse("portal:choose"))
    return redirect_to_login(request.get_full_path(), reverse("account_login"))

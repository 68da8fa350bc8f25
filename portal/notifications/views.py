"""The page of a member's mails, and the link that ends them without a sign-in."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import View

from accounts.models import Member
from portal.acting import PortalActionPage
from portal.notifications.actions import CHANGE, stop
from portal.notifications.sending import member_of_link


class NotificationsPage(PortalActionPage):
    """The page on which a member chooses mails."""

    section = "Notifications"
    right = None
    actions = (CHANGE,)

    def of_party(self) -> QuerySet[Member]:
        own = Member.objects.filter(pk=self.visitor.member.pk).select_related("user", "supplier", "retailer")
        return own.prefetch_related("mail_subscriptions")

    def find(self, pk: int = 0, action: str = "", **kwargs: Any) -> None:
        super().find(pk=self.visitor.member.pk, action=action)

    def context(self) -> dict[str, object]:
        return {"title": "Notifications"}

    def back(self) -> str:
        return reverse("portal:today")

    def record_name(self) -> str:
        return "Today"


@method_decorator(csrf_exempt, name="dispatch")  # mail programs send the form without a CSRF token (RFC 8058)
class StopMailsPage(View):
    """The page of a signed link that ends all mails of a member without a sign-in.

    GET shows a button, and POST ends the mails: programs that only follow the link must change nothing.
    """

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        works = member_of_link(token) is not None
        return _page(request, "Stop all mails" if works else "This link does not work", works)

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        member_id = member_of_link(token)
        if member_id is None:
            return self.get(request, token)
        stop(member_id)
        return _page(request, "Mails stopped", False)


def _page(request: HttpRequest, title: str, works: bool) -> HttpResponse:
    context = {"title": title, "works": works}
    return TemplateResponse(request, "portal/stop_mails.html", context)

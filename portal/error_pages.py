"""Error pages of the portal.

The page of a missing record contains no token, number or path. The page is therefore the same for a record
that does not exist and for a record of another party.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from accounts.member_roles import Right, roles_with
from accounts.typed_drafts import KEPT, keep, page_of
from api.request_id import current_request_id


class RoleMissing(PermissionDenied):
    """The member's role lacks a right."""

    def __init__(self, right: Right) -> None:
        super().__init__(right)
        self.right = right


class ReadOnlyVisit(PermissionDenied):
    """An operator who sees the portal as a member tried to change something."""


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 404, "Not found", "This page or record does not exist.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a page with the reason of the refusal. For a missing right, name the roles that have it."""
    if isinstance(exception, RoleMissing):
        return _page(request, 403, "Your role does not allow this", _needed(exception.right))
    if isinstance(exception, ReadOnlyVisit):
        why = "You see the portal as a member, so you can only read. Make the change in the admin."
        return _page(request, 403, "Read only", why)
    return _page(request, 403, "Not allowed", "Your account does not allow this.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 400, "Bad request", "The request cannot be read. Go back, and try again.")


def csrf_failure(request: HttpRequest) -> HttpResponse:
    text = (
        "Nothing was changed: the page was open for too long, or you signed in or chose a party meanwhile. "
    )
    text += KEPT if keep(request) else "Go back, reload the page and repeat the action."
    return _page(request, 403, "Reload the page", text, url=page_of(request))


def server_error(request: HttpRequest) -> HttpResponse:
    """Return an error page that uses neither session nor database, because they may have caused the error."""
    what = f"The server failed to answer. Send this request number to your operator: {current_request_id()}"
    page = {"title": "Something went wrong", "what": what, "site_header": "The Exchange"}
    return HttpResponse(render_to_string("portal/error.html", page), status=500)


def _needed(right: Right) -> str:
    *first, last = (role.label for role in roles_with(right))
    named = f"{', '.join(first)} or {last}" if first else last
    return f"You need the role {named} for this. Ask an owner of your party to change your role."


def _page(request: HttpRequest, status: int, title: str, what: str, url: str = "") -> HttpResponse:
    context = {"title": title, "what": what, "url": url}
    return HttpResponse(render_to_string("portal/error.html", context, request), status=status)

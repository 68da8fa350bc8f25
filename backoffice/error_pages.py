"""Error pages of the admin: not found, not allowed, stale form, server error."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults
from django.views.csrf import csrf_failure as stock_csrf_failure

from accounts.typed_drafts import KEPT, keep, page_of
from api import errors
from api.request_id import current_request_id
from portal.error_pages import csrf_failure as portal_csrf_failure
from portal.visitors import PATH as PORTAL

ADMIN = "/admin/"


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a page for URLs below /admin/, and a JSON error of the API for other URLs."""
    if not request.path.startswith(ADMIN):
        return errors.page_not_found(request, exception)
    what = (
        "This page does not exist, or its record was removed. Use the search at the top to find the record."
    )
    return _page(request, 404, "Not found", what)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(ADMIN):
        return defaults.permission_denied(request, exception)
    what = "Your role does not allow this. Ask an administrator to change your groups."
    return _page(request, 403, "Not allowed", what)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if request.path.startswith(PORTAL):
        return portal_csrf_failure(request)
    if not request.path.startswith(ADMIN):
        return stock_csrf_failure(request, reason)
    what = "The page was open for too long, or you signed in again meanwhile, so nothing was changed. "
    what += KEPT if keep(request) else "Go back, reload the page and repeat the action."
    return _page(request, 403, "Reload the page", what, url=page_of(request))


def server_error(request: HttpRequest) -> HttpResponse:
    """Return an error page that uses neither session nor database, because they may have caused the error."""
    if not request.path.startswith(ADMIN):
        return errors.server_error(request)
    what = "The server failed to answer. Send the request number below to an administrator."
    return _rendered(None, 500, "Something went wrong", what, {})


def _page(request: HttpRequest, status: int, title: str, what: str, url: str = "") -> HttpResponse:
    user = getattr(request, "user", None)
    context = admin.site.each_context(request) if user is not None and user.is_authenticated else {}
    return _rendered(request, status, title, what, {**context, "url": url})


def _rendered(
    request: HttpRequest | None, status: int, title: str, what: str, context: dict[str, object]
) -> HttpResponse:
    known = {"site_header": admin.site.site_header, "title": title, "what": what}
    page = {**context, **known, "request_id": current_request_id()}
    return HttpResponse(render_to_string("admin/error.html", page, request), status=status)

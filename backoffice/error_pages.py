"""What operators see where there is nothing, where they may not go, and where something went wrong."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults
from django.views.csrf import csrf_failure as stock_csrf_failure

from api import errors
from api.request_id import current_request_id

ADMIN = "/admin/"


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A page for people in the admin, the envelope everywhere else."""
    if not request.path.startswith(ADMIN):
        return errors.page_not_found(request, exception)
    what = "There is no such page, or what it showed is gone. Search for it above, or go home."
    return _page(request, 404, "Not found", what)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(ADMIN):
        return defaults.permission_denied(request, exception)
    what = "Your groups do not allow this. Whoever runs the operators' accounts can change that."
    return _page(request, 403, "Not allowed", what)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if not request.path.startswith(ADMIN):
        return stock_csrf_failure(request, reason)
    what = (
        "This page was open for too long, or you signed in again meanwhile. Nothing was changed: "
        "go back, reload it, and do it again."
    )
    return _page(request, 403, "Reload the page", what)


def server_error(request: HttpRequest) -> HttpResponse:
    """Without the session and the database, which may be what went wrong."""
    if not request.path.startswith(ADMIN):
        return errors.server_error(request)
    what = "Something went wrong on our side. Whoever runs the service finds it under the request's number."
    return _rendered(None, 500, "Something went wrong", what, {})


def _page(request: HttpRequest, status: int, title: str, what: str) -> HttpResponse:
    user = getattr(request, "user", None)
    context = admin.site.each_context(request) if user is not None and user.is_authenticated else {}
    return _rendered(request, status, title, what, context)


def _rendered(
    request: HttpRequest | None, status: int, title: str, what: str, context: dict[str, Any]
) -> HttpResponse:
    known = {"site_header": admin.site.site_header, "title": title, "what": what}
    page = {**context, **known, "request_id": current_request_id()}
    return HttpResponse(render_to_string("admin/error.html", page, request), status=status)

"""The template context of the admin's header, menu and title, for allauth's pages."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from backoffice.models import lacks_second_factor
from portal.visitors import PATH as PORTAL

OURS = ("mfa_", "account_", "socialaccount_")


def admin_context(request: HttpRequest) -> dict[str, object]:
    """Return the admin's context for allauth's views, and nothing for other views."""
    match = request.resolver_match
    if (
        request.path.startswith(PORTAL)
        or match is None
        or match.app_name == "admin"
        or not (match.url_name or "").startswith(OURS)
    ):
        return {}
    return {**admin.site.each_context(request), "must_set_up": lacks_second_factor(request.user)}

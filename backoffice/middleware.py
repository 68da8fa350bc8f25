"""Middleware for the Content-Security-Policy of pages, and for the second factor of operators."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from backoffice.models import lacks_second_factor
from portal.visitors import PATH as PORTAL

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

# Pictures of variants are on suppliers' hosts. Only pages with such pictures may load them (ADR 102).
POLICY_WITH_PICTURES = POLICY.replace("img-src 'self' data:", "img-src 'self' data: https:")


class PagePolicyMiddleware:
    """A middleware that gives pages a strict Content-Security-Policy and forbids caching."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith(("/admin/", PORTAL)):
            policy = POLICY_WITH_PICTURES if getattr(response, "shows_pictures", False) else POLICY
            response.headers.setdefault("Content-Security-Policy", policy)
            response.headers.setdefault("Cache-Control", "no-store")
        return response


# Paths that an operator may open before the required second factor is set up.
OPEN = (
    "/admin/second-factor/",
    "/admin/reauthenticate/",
    "/admin/login/",
    "/admin/logout/",
    "/admin/jsi18n/",
)


class SecondFactorMiddleware:
    """A middleware that redirects operators without a required second factor to the page that sets it up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path = request.path
        if path.startswith("/admin/") and not path.startswith(OPEN) and lacks_second_factor(request.user):
            return HttpResponseRedirect(reverse("mfa_index"))
        return self.get_response(request)

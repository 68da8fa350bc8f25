"""The middleware that gives the portal its own URL configuration."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from portal.visitors import PATH


class PortalMiddleware:
    """A middleware that resolves the URLs of the portal with `portal.site_urls`.

    The admin and the portal both have a sign-in page and pages of the second factor. allauth finds these
    pages by fixed URL names, so each of the two sites needs its own URL configuration.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(PATH):
            request.urlconf = "portal.site_urls"
        return self.get_response(request)

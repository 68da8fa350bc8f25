"""Middleware of the portal: its own URLs for signing in, by the names that allauth looks up."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from portal.visitors import PATH


class PortalMiddleware:
    """Resolve the requests of the portal by `portal.site_urls`.

    The admin and the portal both have a sign-in page, a second factor and so on. allauth finds each page by
    one name, so each of the two sites has its own URL configuration with these names.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(PATH):
            request.urlconf = "portal.site_urls"
        return self.get_response(request)

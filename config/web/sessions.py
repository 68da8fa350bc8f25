"""Tells the web process whose session a request bears."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from api import caller


class CallerMiddleware:
    """Give each signed-in person a share of the threads, apart from strangers at the same address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if has_session and not request.path.startswith("/v3/") and request.user.is_authenticated:
            caller.accept(f"user:{request.user.pk}")
        return self.get_response(request)

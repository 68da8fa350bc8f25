"""The report of a request's signed-in user to the web process."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from api import caller


class CallerMiddleware:
    """The middleware that makes each signed-in user a party with its own share of the threads.

    Without this middleware, signed-in users would share the threads of all clients in their network that have
    no accepted credential.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if has_session and not request.path.startswith("/v3/") and request.user.is_authenticated:
            caller.accept(f"user:{request.user.pk}")
        return self.get_response(request)

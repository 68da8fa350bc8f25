"""The middleware that records the log position of a change, so that clients see their own changes."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase

from api import caller
from fastdb.standbys.floors import raise_floor

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class OwnChangesMiddleware:
    """The middleware that keeps callers from reading a state that is older than their last change."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.STANDBYS:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method not in SAFE:
            raise_floor(caller.verdict().party)
        return response

"""Notes the position of each change, so that the person or party who made it reads it back."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase

from api import caller
from fastdb.standbys.floors import raise_floor

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class OwnChangesMiddleware:
    """Keep callers from reading a state from before their own last change."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.STANDBYS:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method not in SAFE:
            raise_floor(caller.verdict().party)
        return response

"""Middleware for all requests, of the API and of pages."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from api import request_id
from api.errors import TooLarge, plain
from api.sizes import refuse_long

GetResponse = Callable[[HttpRequest], HttpResponseBase]
API_PREFIXES = ("/v3/", "/oauth/")


class RequestIdMiddleware:
    """The middleware that gives every answer its X-Request-Id."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        chosen = request_id.begin(request.headers.get(request_id.HEADER))
        response = self.get_response(request)
        response.headers[request_id.HEADER] = chosen
        return response


class BodySizeMiddleware:
    """The middleware that refuses a body over the size limit before reading it, on every path."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            refuse_long(request.path_info, request.META.get("CONTENT_LENGTH") or "")
        except TooLarge as error:
            return plain(error)
        return self.get_response(request)


class TolerantPathMiddleware:
    """The middleware that accepts one trailing slash on API paths. A redirected POST would lose its body."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        if path.endswith("/") and path.startswith(API_PREFIXES):
            request.path_info = path[:-1]
            request.path = request.path[:-1]
        return self.get_response(request)

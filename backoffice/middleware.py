"""What a page of the admin may load: only what this service itself serves."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

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


class AdminPolicyMiddleware:
    """Give the admin's pages a strict Content-Security-Policy, and keep them out of caches."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith("/admin/"):
            response.headers.setdefault("Content-Security-Policy", POLICY)
            response.headers.setdefault("Cache-Control", "no-store")
        return response

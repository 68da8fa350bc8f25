"""Absolute links into this service."""

from __future__ import annotations

from urllib.parse import urlencode

from rest_framework.request import Request


def same_url(request: Request, **changes: str) -> str:
    """This request's own URL with some query parameters changed."""
    query = request.query_params.dict() | changes
    return request.build_absolute_uri(f"{request.path}?{urlencode(query)}")

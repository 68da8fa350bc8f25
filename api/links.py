"""Absolute links into this service."""

from __future__ import annotations

from urllib.parse import urlencode

from rest_framework.request import Request


def same_url(request: Request, **changes: str) -> str:
    """Return the URL of this request with changed query parameters."""
    query = request.query_params.dict() | changes
    return request.build_absolute_uri(f"{request.path}?{urlencode(query)}")

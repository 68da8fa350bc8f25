"""The OpenAPI document at /v3/schema, and its page for people at /v3/docs. Both public."""

from __future__ import annotations

import functools
import hashlib

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer

from api.errors import only_read

# The page has no inline script or style, and loads nothing from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@functools.cache
def document() -> tuple[bytes, str]:
    """The OpenAPI document and its ETag; made once, for it only changes with the code."""
    found = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    raw: bytes = OpenApiJsonRenderer().render(found, renderer_context={})
    return raw, f'"{hashlib.sha256(raw).hexdigest()[:32]}"'


@only_read
def schema(request: HttpRequest) -> HttpResponse:
    """OpenAPI 3.1, as JSON."""
    raw, tag = document()
    asked = request.headers.get("If-None-Match", "")
    response: HttpResponse
    if tag in asked:
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(raw, content_type="application/json")
    response["ETag"] = tag
    response["Access-Control-Allow-Origin"] = "*"
    return response


@only_read
def docs(request: HttpRequest) -> HttpResponse:
    """Swagger UI over that document."""
    response = render(request, "docs.html")
    response["Content-Security-Policy"] = POLICY
    return response

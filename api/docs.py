"""The OpenAPI document at /v3/schema, and its page for people at /v3/docs. Both public."""

from __future__ import annotations

import functools
import hashlib
import threading

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from drf_spectacular.generators import SchemaGenerator

from api.errors import only_read
from api.renderers import encode

# The page has no inline script or style, and loads nothing from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


ORIGIN = settings.SPECTACULAR_SETTINGS["SERVERS"][0]["url"].encode()


_ONE_AT_A_TIME = threading.Lock()


@functools.cache
def document() -> bytes:
    """The OpenAPI document; made once, for it only changes with the code."""
    found = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return encode(found)


def document_in_turn() -> bytes:
    """The same for many threads: two that make it at once trip over the parts that it loads as it goes."""
    with _ONE_AT_A_TIME:
        return document()


@only_read
def schema(request: HttpRequest) -> HttpResponse:
    """OpenAPI 3.1, as JSON."""
    raw = document_in_turn().replace(ORIGIN, request.build_absolute_uri("/")[:-1].encode())
    tag = f'"{hashlib.sha256(raw).hexdigest()[:32]}"'
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
def home(request: HttpRequest) -> HttpResponse:
    """Where to go from the service's own address: a page for browsers, the same as JSON for programs."""
    places = {"docs": "/v3/docs", "schema": "/v3/schema", "admin": reverse("admin:index")}
    if "text/html" in request.headers.get("Accept", ""):
        response = render(request, "home.html", places)
        response["Content-Security-Policy"] = POLICY
    else:
        response = JsonResponse({name: request.build_absolute_uri(path) for name, path in places.items()})
    patch_vary_headers(response, ["Accept"])
    return response


@only_read
def docs(request: HttpRequest) -> HttpResponse:
    """Swagger UI over that document."""
    response = render(request, "docs.html")
    response["Content-Security-Policy"] = POLICY
    return response

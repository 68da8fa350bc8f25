"""The OpenAPI document at /v3/schema, and its page for people at /v3/docs. Both are public."""

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

# The page has no inline script or style and loads nothing from other hosts.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


ORIGIN = settings.SPECTACULAR_SETTINGS["SERVERS"][0]["url"].encode()


_ONE_AT_A_TIME = threading.Lock()


@functools.cache
def document() -> bytes:
    """Return the OpenAPI document. It is generated once, since it changes only with the code."""
    generated = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return encode(generated)


def document_in_turn() -> bytes:
    """Return the document. Threads take turns, because the generator is not thread-safe."""
    with _ONE_AT_A_TIME:
        return document()


@only_read
def schema(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI 3.1 document as JSON."""
    raw = document_in_turn().replace(ORIGIN, request.build_absolute_uri("/")[:-1].encode())
    return public_document(request, raw)


def public_document(request: HttpRequest, raw: bytes) -> HttpResponse:
    """Return an answer with a public JSON document and its ETag, or 304 if the client has the document."""
    tag = f'"{hashlib.sha256(raw).hexdigest()[:32]}"'
    response: HttpResponse
    if tag in request.headers.get("If-None-Match", ""):
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(raw, content_type="application/json")
    response["ETag"] = tag
    response["Access-Control-Allow-Origin"] = "*"
    return response


@only_read
def home(request: HttpRequest) -> HttpResponse:
    """Show the main URLs of the service: a page for browsers, JSON for programs."""
    links = {
        "docs": "/v3/docs",
        "schema": "/v3/schema",
        "events": "/v3/asyncapi",
        "admin": reverse("admin:index"),
    }
    if "text/html" in request.headers.get("Accept", ""):
        response = render(request, "home.html", links)
        response["Content-Security-Policy"] = POLICY
    else:
        response = JsonResponse({name: request.build_absolute_uri(path) for name, path in links.items()})
    patch_vary_headers(response, ["Accept"])
    return response


@only_read
def docs(request: HttpRequest) -> HttpResponse:
    """Show the OpenAPI document in Swagger UI."""
    response = render(request, "docs.html")
    response["Content-Security-Policy"] = POLICY
    return response

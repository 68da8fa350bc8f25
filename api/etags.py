"""ETags of single objects: who holds the newest version is answered 304, without a body (contract 13)."""

from __future__ import annotations

import hashlib

from django.http import HttpResponseBase, HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

# What describes a body that a 304 does not have.
OF_THE_BODY = ("Content-Type", "Content-Length")


def with_etag(request: Request, response: HttpResponseBase) -> HttpResponseBase:
    """An answer that shows one object, with its ETag; or a 304 where If-None-Match names that.

    Any other answer is returned as it is.
    """
    if not isinstance(response, Response) or not _shows_one_object(request, response):
        return response
    response.render()
    tag = f'W/"{hashlib.blake2b(response.content, digest_size=16).hexdigest()}"'
    response["ETag"] = tag
    response.setdefault("Cache-Control", "private, no-cache")
    if not _held(request.headers.get("If-None-Match", ""), tag):
        return response
    unchanged = HttpResponseNotModified()
    for name, value in response.items():
        if name not in OF_THE_BODY:
            unchanged[name] = value
    return unchanged


def _shows_one_object(request: Request, response: Response) -> bool:
    """Not a list, whose pages change with every object on them; those have cursors and moments."""
    asked = request.method in ("GET", "HEAD") and response.status_code == 200
    return asked and isinstance(response.data, dict) and "results" not in response.data


def _held(header: str, tag: str) -> bool:
    """Whether If-None-Match names that tag, compared weakly (RFC 9110, section 13.1.2)."""
    plain = tag.removeprefix("W/")
    return any(each == "*" or each.removeprefix("W/") == plain for each in parse_etags(header))

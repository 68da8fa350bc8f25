"""ETags of single objects: a client with the newest version gets 304 without a body.

With If-Match a client names the version that it wants to change; if that is not the newest, nothing changes.
The tags are weak, because an answer may be compressed, and are compared weakly (docs/adr/0074).
"""

from __future__ import annotations

import hashlib

from django.http import HttpResponseBase, HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import PreconditionFailed

# Headers about the body, which a 304 does not have.
OF_THE_BODY = ("Content-Type", "Content-Length")


def with_etag(request: Request, response: HttpResponseBase) -> HttpResponseBase:
    """Add the ETag to an answer that shows one object, or return 304 if If-None-Match names it.

    Other answers are returned unchanged.
    """
    if not isinstance(response, Response) or not _shows_one_object(request, response):
        return response
    response["ETag"] = tag = _tag_of(response)
    response.setdefault("Cache-Control", "private, no-cache")
    if not _matches(request.headers.get("If-None-Match", ""), tag):
        return response
    unchanged = HttpResponseNotModified()
    for name, value in response.items():
        if name not in OF_THE_BODY:
            unchanged[name] = value
    return unchanged


def has_condition(request: Request) -> bool:
    """Tell whether the client wants its change only if the object has the version in If-Match."""
    return request.method in ("PUT", "PATCH", "DELETE") and bool(request.headers.get("If-Match", "").strip())


def refuse_changed(request: Request, newest: Response) -> None:
    """Refuse a change whose If-Match does not name the tag of this answer. Raises PreconditionFailed."""
    if not _matches(request.headers["If-Match"], _tag_of(newest)):
        raise PreconditionFailed(
            "The object has changed: If-Match does not name its current ETag. Nothing was changed. Read the"
            " object again (without `fields`) and send the new ETag, or leave If-Match out."
        )


def _tag_of(response: Response) -> str:
    response.render()
    return f'W/"{hashlib.blake2b(response.content, digest_size=16).hexdigest()}"'


def _shows_one_object(request: Request, response: Response) -> bool:
    """Tell whether an answer shows one object. A page of a list changes with each object on it."""
    is_read = request.method in ("GET", "HEAD") and response.status_code == 200
    return is_read and isinstance(response.data, dict) and "results" not in response.data


def _matches(header: str, tag: str) -> bool:
    """Tell whether a condition names the tag, by weak comparison (RFC 9110, section 8.8.3.2)."""
    plain = tag.removeprefix("W/")
    return any(named == "*" or named.removeprefix("W/") == plain for named in parse_etags(header))

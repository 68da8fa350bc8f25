"""ETags of single objects: who holds the newest version is answered 304, without a body (contract 13).

Who changes an object may say by If-Match which version it knows: where that is not the newest, nothing is
done. The tags are weak, for an answer may be compressed, and are compared weakly here, too (docs/adr/0074).
"""

from __future__ import annotations

import hashlib

from django.http import HttpResponseBase, HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import PreconditionFailed

# What describes a body that a 304 does not have.
OF_THE_BODY = ("Content-Type", "Content-Length")


def with_etag(request: Request, response: HttpResponseBase) -> HttpResponseBase:
    """An answer that shows one object, with its ETag; or a 304 where If-None-Match names that.

    Any other answer is returned as it is.
    """
    if not isinstance(response, Response) or not _shows_one_object(request, response):
        return response
    response["ETag"] = tag = _tag_of(response)
    response.setdefault("Cache-Control", "private, no-cache")
    if not _held(request.headers.get("If-None-Match", ""), tag):
        return response
    unchanged = HttpResponseNotModified()
    for name, value in response.items():
        if name not in OF_THE_BODY:
            unchanged[name] = value
    return unchanged


def has_condition(request: Request) -> bool:
    """Whether a change is asked for on condition that its object is as the client knows it."""
    return request.method in ("PUT", "PATCH", "DELETE") and bool(request.headers.get("If-Match", "").strip())


def refuse_changed(request: Request, newest: Response) -> None:
    """Refuse a change whose If-Match does not name the tag of this answer. Raises PreconditionFailed."""
    if not _held(request.headers["If-Match"], _tag_of(newest)):
        raise PreconditionFailed(
            "It is not as you know it any more: its ETag is none of those in If-Match. Nothing is changed."
            " Read it again (without `fields`), and send that answer's ETag; or leave If-Match out."
        )


def _tag_of(response: Response) -> str:
    response.render()
    return f'W/"{hashlib.blake2b(response.content, digest_size=16).hexdigest()}"'


def _shows_one_object(request: Request, response: Response) -> bool:
    """Not a list, whose pages change with every object on them; those have cursors and moments."""
    asked = request.method in ("GET", "HEAD") and response.status_code == 200
    return asked and isinstance(response.data, dict) and "results" not in response.data


def _held(header: str, tag: str) -> bool:
    """Whether a condition names that tag, compared weakly (RFC 9110, section 8.8.3.2)."""
    plain = tag.removeprefix("W/")
    return any(each == "*" or each.removeprefix("W/") == plain for each in parse_etags(header))

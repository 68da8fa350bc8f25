"""ETags of single objects: a client with the newest version gets 304 without a body.

If the answer to a change shows the changed object, the answer has the same tag as a later read of the object.

With If-Match a client names the version that it wants to change. If this version is not the newest, the
change is refused.

The tags are weak, because an answer may be compressed, and are compared weakly (docs/adr/0044).
"""

from __future__ import annotations

import hashlib

from django.http import HttpResponseBase, HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import PreconditionFailed
from api.renderers import encode_sorted

# Headers about the body, which a 304 does not have.
OF_THE_BODY = ("Content-Type", "Content-Length")
# Methods with the status of answers that may show the changed object.
WRITTEN = {("PUT", 200), ("PATCH", 200), ("POST", 201)}


def with_etag(request: Request, response: HttpResponseBase) -> HttpResponseBase:
    """Add the ETag to an answer that shows one object, or return 304 if If-None-Match names this ETag.

    An answer with a file already has an ETag. All other answers, such as lists and errors, stay unchanged.
    """
    if isinstance(response, Response):
        if _shows_written_object(request, response):
            response["ETag"] = _tag_of(response)
        if not _shows_one_object(request, response):
            return response
        response["ETag"] = _tag_of(response)
    elif not response.has_header("ETag"):
        return response
    tag = response["ETag"]
    response.setdefault("Cache-Control", "private, no-cache")
    if not _matches(request.headers.get("If-None-Match", ""), tag):
        return response
    unchanged = HttpResponseNotModified()
    for name, value in response.items():
        if name not in OF_THE_BODY:
            unchanged[name] = value
    return unchanged


def has_condition(request: Request) -> bool:
    """Tell whether this is a PUT, PATCH or DELETE request with an If-Match header."""
    return request.method in ("PUT", "PATCH", "DELETE") and bool(request.headers.get("If-Match", "").strip())


def refuse_changed(request: Request, newest: Response) -> None:
    """Raise PreconditionFailed if If-Match does not name the tag of `newest`, the answer to a read."""
    if not _matches(request.headers["If-Match"], _tag_of(newest)):
        raise PreconditionFailed(
            "The object is newer than the ETag in If-Match, so nothing was changed. Read the object again"
            " (without `fields`) and send its new ETag, or leave If-Match out."
        )


def _tag_of(response: Response) -> str:
    """Return the tag of the object that an answer shows.

    The tag leaves out `secret`, because a read does not show it. The fields are sorted, because the database
    may return them in another order.
    """
    shown = {name: value for name, value in response.data.items() if name != "secret"}
    return tag_of_bytes(encode_sorted(shown))


def tag_of_bytes(content: bytes) -> str:
    """Return the tag of a file."""
    return f'W/"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'


def _shows_one_object(request: Request, response: Response) -> bool:
    """Tell whether an answer shows one object, and not a page of a list."""
    is_read = request.method in ("GET", "HEAD") and response.status_code == 200
    return is_read and isinstance(response.data, dict) and "results" not in response.data


def _shows_written_object(request: Request, response: Response) -> bool:
    """Tell whether the answer to a change shows the whole object, and not only a result envelope."""
    written = (request.method, response.status_code) in WRITTEN
    return written and isinstance(response.data, dict) and "success" not in response.data


def _matches(header: str, tag: str) -> bool:
    """Tell whether a header's condition names the tag, by weak comparison (RFC 9110, section 8.8.3.2)."""
    plain = tag.removeprefix("W/")
    return any(named == "*" or named.removeprefix("W/") == plain for named in parse_etags(header))

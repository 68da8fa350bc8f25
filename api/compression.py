"""gzip compression of the API's answers (contract 2) and of the operators' pages (ADR 102).

Django's GZipMiddleware ignores `q=0` and has no choice of level.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.text import compress_string

from api.negotiation import accepts_coding

PREFIX = "/v3/"
PAGES = "/admin/"
# These pages show the same secret on each load. The sizes of compressed answers would reveal it (BREACH).
SECRETS = "/admin/second-factor/"
RANDOM_BYTES = 100
"""The maximum number of random bytes that are added to hide the size of a compressed page."""
LEAST = 1024
# JSON shrinks to a tenth at any level. Level 6, which Django uses, takes 2.3 times as long as this level.
LEVEL = 2
GZIP = 16 + zlib.MAX_WBITS


class CompressionMiddleware:
    """The middleware that compresses answers over 1 KB, and streamed answers chunk by chunk."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith(PREFIX) and response.status_code not in (204, 304):
            patch_vary_headers(response, ["Accept-Encoding"])
            if accepts_coding(request.headers.get("Accept-Encoding", ""), "gzip"):
                _compress(response)
        elif _is_page(request, response):
            patch_vary_headers(response, ["Accept-Encoding"])
            if accepts_coding(request.headers.get("Accept-Encoding", ""), "gzip"):
                _compress_page(response)
        return response


def _is_page(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Return whether the answer is an operators' page over 1 KB that shows no lasting secret."""
    return (
        request.path.startswith(PAGES)
        and not request.path.startswith(SECRETS)
        and isinstance(response, HttpResponse)
        and response.headers.get("Content-Type", "").startswith("text/html")
        and not response.has_header("Content-Encoding")
        and len(response.content) > LEAST
    )


def _compress_page(response: HttpResponseBase) -> None:
    """Compress a page. The new size reveals no secret: Django masks the CSRF token and adds random bytes."""
    assert isinstance(response, HttpResponse)  # `_is_page` has checked the type
    response.content = compress_string(response.content, max_random_bytes=RANDOM_BYTES)
    if response.has_header("Content-Length"):
        response.headers["Content-Length"] = str(len(response.content))
    response.headers["Content-Encoding"] = "gzip"


def _compress(response: HttpResponseBase) -> None:
    if response.has_header("Content-Encoding"):
        return
    if isinstance(response, StreamingHttpResponse):
        if response.is_async:
            return
        response.streaming_content = _compressed_chunks(response.streaming_content)  # type: ignore[arg-type]
        del response.headers["Content-Length"]
    elif isinstance(response, HttpResponse) and len(response.content) > LEAST:
        response.content = gzip.compress(response.content, LEVEL, mtime=0)
        if response.has_header("Content-Length"):
            response.headers["Content-Length"] = str(len(response.content))
    else:
        return
    response.headers["Content-Encoding"] = "gzip"
    tag = response.headers.get("ETag", "")
    if tag.startswith('"'):
        response.headers["ETag"] = f"W/{tag}"  # weak, because the bytes have changed


def _compressed_chunks(content: Iterable[bytes]) -> Iterator[bytes]:
    """Compress a stream in constant memory: yield output as soon as the compressor has some."""
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    for chunk in content:
        if ready := compressor.compress(chunk):
            yield ready
    yield compressor.flush()

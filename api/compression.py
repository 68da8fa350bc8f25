"""Answers of the API, compressed for those who accept it (contract 13).

Only the API's: what a page of the admin shows stands beside its form's secret, and how small the two become
together would give that away, guess by guess (BREACH). An answer of the API holds no such secret.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import patch_vary_headers

from api.negotiation import accepts_coding

PREFIX = "/v3/"
LEAST = 1024
# JSON shrinks to a tenth at any level; the higher ones take a multiple of the time that a pull takes.
LEVEL = 2
GZIP = 16 + zlib.MAX_WBITS


class CompressionMiddleware:
    """gzip for answers over 1 KB, piece by piece where they are streamed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith(PREFIX) and response.status_code not in (204, 304):
            patch_vary_headers(response, ["Accept-Encoding"])
            if accepts_coding(request.headers.get("Accept-Encoding", ""), "gzip"):
                _compress(response)
        return response


def _compress(response: HttpResponseBase) -> None:
    if response.has_header("Content-Encoding"):
        return
    if isinstance(response, StreamingHttpResponse):
        if response.is_async:
            return
        response.streaming_content = _pieces(response.streaming_content)  # type: ignore[arg-type]
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
        response.headers["ETag"] = f"W/{tag}"  # other bytes than the plain answer's, but the same to a reader


def _pieces(content: Iterable[bytes]) -> Iterator[bytes]:
    """A stream, compressed: what has come together is sent on, and no more is held than that."""
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    for piece in content:
        if ready := compressor.compress(piece):
            yield ready
    yield compressor.flush()

"""gzip compression of the API's answers (contract 2).

Pages are not compressed: a page holds the secret of its form beside other text, and its compressed size would
reveal the secret guess by guess (BREACH). Django's GZipMiddleware ignores `q=0` and has no choice of level.
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
# JSON shrinks to a tenth at any level, and Django's level 6 takes 2.3 times as long.
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
        return response


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
        response.headers["ETag"] = f"W/{tag}"  # weak: the bytes differ from the plain answer's


def _compressed_chunks(content: Iterable[bytes]) -> Iterator[bytes]:
    """Compress a stream in constant memory: yield output as soon as the compressor has some."""
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    for chunk in content:
        if ready := compressor.compress(chunk):
            yield ready
    yield compressor.flush()

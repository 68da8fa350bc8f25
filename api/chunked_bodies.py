"""Request bodies with `Transfer-Encoding: chunked`, which have no Content-Length."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from wsgiref.types import InputStream, StartResponse, WSGIApplication, WSGIEnvironment

CHUNK = 64 * 1024


class BufferChunkedBody:
    """WSGI middleware that reads a chunked body and sets its length. Without a length Django sees no body.

    The middleware reads at most one byte more than `max_bytes` allows for the path. The size limit then
    refuses a body with this additional byte (413).
    """

    def __init__(self, application: WSGIApplication, *, max_bytes: Callable[[str], int]) -> None:
        self.application, self.max_bytes = application, max_bytes

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
        if chunked and not environ.get("CONTENT_LENGTH"):
            limit = self.max_bytes(environ.get("PATH_INFO", "")) + 1
            body = self._read(environ["wsgi.input"], limit)
            environ["wsgi.input"] = io.BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return self.application(environ, start_response)

    def _read(self, stream: InputStream, limit: int) -> bytes:
        body = bytearray()
        while len(body) < limit and (chunk := stream.read(min(CHUNK, limit - len(body)))):
            body += chunk
        return bytes(body)

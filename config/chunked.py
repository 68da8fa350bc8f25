"""Bodies sent in chunks, which name no length beforehand."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]

PIECE = 64 * 1024


class WithLength:
    """Reads a chunked body and gives it a length: Django takes a request without one for an empty one.

    A body larger than `most` bytes is read only so far that Django sees it is too large, and answers 413.
    """

    def __init__(self, application: Application, *, most: int) -> None:
        self.application, self.most = application, most

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
        if chunked and not environ.get("CONTENT_LENGTH"):
            body = self._read(environ["wsgi.input"])
            environ["wsgi.input"] = io.BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return self.application(environ, start_response)

    def _read(self, stream: Any) -> bytes:
        body = bytearray()
        while len(body) <= self.most and (piece := stream.read(min(PIECE, self.most + 1 - len(body)))):
            body += piece
        return bytes(body)

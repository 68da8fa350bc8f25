"""Answers to HEAD, which have the headers of GET and no body."""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


class DropBodyOfHead:
    """WSGI middleware that drops the body of an answer to HEAD, because gunicorn would log a warning."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = self.application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return answer
        if close := getattr(answer, "close", None):  # Django ends the request in `close`
            close()
        return ()

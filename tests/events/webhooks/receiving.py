"""Receivers of webhooks for tests: HTTP servers in threads that record their requests."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

Answering = Callable[["Post", BaseHTTPRequestHandler], int]
WAIT = 20.0


class Post:
    """One request that a receiver got."""

    def __init__(self, headers: dict[str, str], body: bytes, path: str) -> None:
        self.headers, self.body, self.path = headers, body, path
        self.at = time.monotonic()
        self.json: dict[str, Any] = msgspec.json.decode(body)


class ReceiverServer:
    """A receiver that answers each request with the status that `answer` returns."""

    def __init__(self, answer: Answering, tls: ssl.SSLContext | None = None) -> None:
        self.posts: list[Post] = []
        self._changed = threading.Condition()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                post = Post({k.lower(): v for k, v in self.headers.items()}, body, self.path)
                status = answer(post, self)
                with outer._changed:
                    outer.posts.append(post)
                    outer._changed.notify_all()
                if status:
                    self.send_response(status)
                    for name, value in getattr(self, "more", {}).items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hooks"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def wait_for(self, count: int, *, seconds: float = WAIT) -> list[Post]:
        """Wait for a number of posts and return them. Fails if they do not arrive."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.posts) >= count, seconds)
            assert came, f"{len(self.posts)} of {count} requests arrived"
            return list(self.posts)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def takes(post: Post, handler: BaseHTTPRequestHandler) -> int:
    return 204


@contextmanager
def receiver(answer: Answering = takes, tls: ssl.SSLContext | None = None) -> Iterator[ReceiverServer]:
    server = ReceiverServer(answer, tls)
    try:
        yield server
    finally:
        server.close()

"""An authentication that remembers every key and still makes the two round trips.

This is the lowest cost of a check at each request: one indexed row from PostgreSQL and one number from Redis,
by the lowest-level calls of their drivers; the results are not used.
"""

from __future__ import annotations

import socket
import threading
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from rest_framework.request import Request

from accounts.authentication import Access
from tools.bench.serving.known import RememberedAuthentication

KEY = b"SELECT * FROM accounts_apikey WHERE prefix = $1"
_threads = threading.local()


class TwoRoundTrips(RememberedAuthentication):
    """Reads the key's row and its counter, although the key is remembered."""

    def authenticate(self, request: Request) -> tuple[None, Access] | None:
        access = super().authenticate(request)
        if access is not None:
            prefix = access[1].key.prefix.encode()
            connection.ensure_connection()
            connection.connection.pgconn.exec_params(KEY, [prefix])
            redis = _redis()
            redis.sendall(b"*2\r\n$4\r\nINCR\r\n$%d\r\nbench:%b\r\n" % (len(prefix) + 6, prefix))
            redis.recv(100)
        return access


def _redis() -> socket.socket:
    if not hasattr(_threads, "redis"):
        url = urlsplit(settings.REDIS_URL)
        _threads.redis = socket.create_connection((url.hostname or "127.0.0.1", url.port or 6379))
    redis: socket.socket = _threads.redis
    return redis

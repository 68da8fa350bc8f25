"""The shapes of a stranger's requests. No shape has a valid key."""

from __future__ import annotations

from dataclasses import dataclass

NUMBER = b"@@@@@@@@"
"""The placeholder for a number that is new in each request."""
BUNDLE = b"/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
WRONG_KEY = b"Authorization: Bearer fxk_wrong%s_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n" % NUMBER
HOST = b"Host: 127.0.0.1\r\n"
PUSH = b"POST /v3/retailers/1/orders HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n" + WRONG_KEY
TOKEN = b"POST /oauth/token HTTP/1.1\r\n" + HOST + b"Content-Type: application/x-www-form-urlencoded\r\n"
CHUNKED = PUSH + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class HostileRequest:
    """Bytes that a stranger sends on each new connection, and whether the answer is read."""

    name: str
    data: bytes
    reads: bool = False

    def numbered(self, number: int) -> bytes:
        return self.data.replace(NUMBER, b"%08d" % number)


def get(path: bytes, *headers: bytes, version: bytes = b"1.1") -> bytes:
    return b"GET %s HTTP/%s\r\n%s%s\r\n" % (path, version, HOST, b"".join(headers))


def _unread() -> list[HostileRequest]:
    bundle = get(BUNDLE, WRONG_KEY)
    return [
        HostileRequest("unread bundle", bundle),
        HostileRequest("unread schema", get(b"/v3/schema", WRONG_KEY)),
        HostileRequest("unread bundle, HTTP/1.0", get(BUNDLE, WRONG_KEY, version=b"1.0")),
        HostileRequest("unread bundle, pipelined", bundle * 8),
        HostileRequest("unread pages of sign-in, pipelined", get(b"/admin/login/") * 64),
    ]


def _half() -> list[HostileRequest]:
    return [
        HostileRequest("nothing", b""),
        HostileRequest("half a line", b"GET /v3/sche"),
        HostileRequest("half a head", PUSH + b"X-Slow: "),
        HostileRequest("no body", PUSH + b"Content-Length: 1000\r\n\r\n"),
        HostileRequest(
            "no body, HTTP/1.0", PUSH.replace(b"/1.1\r", b"/1.0\r") + b"Content-Length: 1000\r\n\r\n"
        ),
        HostileRequest(
            "no body behind Expect", PUSH + b"Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n"
        ),
        HostileRequest(
            "no body of HEAD", PUSH.replace(b"POST", b"HEAD", 1) + b"Content-Length: 1000\r\n\r\n"
        ),
        HostileRequest("blank behind the length", PUSH + b"Content-Length: 1000 \r\n\r\n"),
        HostileRequest("tab behind the length", PUSH + b"Content-Length: 1000\t\r\n\r\n"),
        HostileRequest(
            "half a token request", b"POST /oauth/token HTTP/1.1\r\n" + HOST + b"Content-Length: 50 \r\n\r\n"
        ),
        HostileRequest("half a chunk", CHUNKED + b"5\r\nab"),
        HostileRequest("chunk size of 17 digits", CHUNKED + b"00000000000000005\r\nab"),
        HostileRequest("half trailers", CHUNKED + b"0\r\nDigest: "),
    ]


def _wrong() -> list[HostileRequest]:
    form = b"grant_type=client_credentials&client_id=fxk_%s&client_secret=fxk_%s_x" % (NUMBER, NUMBER)
    return [
        HostileRequest("ever-new wrong keys", get(b"/v3/retailers/1/orders", WRONG_KEY), reads=True),
        HostileRequest(
            "ever-new wrong secrets", TOKEN + b"Content-Length: %d\r\n\r\n" % len(form) + form, reads=True
        ),
    ]


def _cheap() -> list[HostileRequest]:
    """Return requests that the web process answers without a thread."""
    return [
        HostileRequest("health checks", get(b"/healthz"), reads=True),
        HostileRequest("health checks, pipelined", get(b"/healthz") * 64, reads=True),
        HostileRequest("readiness checks", get(b"/readyz"), reads=True),
        HostileRequest("nonsense", b"nonsense\r\n\r\n"),
        HostileRequest("broken chunk", CHUNKED + b"zz\r\nab"),
        HostileRequest("broken trailers", CHUNKED + b"0\r\nnonsense\r\n\r\n"),
        HostileRequest("too long a body", PUSH + b"Content-Length: 99999999999\r\n\r\n"),
    ]


UNREAD, HALF, WRONG, CHEAP = _unread(), _half(), _wrong(), _cheap()
SHAPES = {shape.name: shape for shape in (*UNREAD, *HALF, *WRONG, *CHEAP)}

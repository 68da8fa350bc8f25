"""The event loop's parser and gunicorn's parser find the same requests in any bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from gunicorn.config import Config
from gunicorn.http.body import LengthReader
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import IterUnreader
from hypothesis import example, given, settings
from hypothesis import strategies as st

from config.web.arrival import Arrival

CONFIG = Config()
PEER = ("127.0.0.1", 1)
LARGE = 10**9

LINES = [b"GET / HTTP/1.1\r\n", b"POST /a HTTP/1.1\r\n", b"HEAD /a?b HTTP/1.0\r\n", b"POST /a HTTP/2.0\r\n"]
BLANKS = [b"", b" ", b"\t", b" \t ", b"\r", b"\n", b"\x0b"]
LENGTHS = [b"0", b"5", b"05", b"+5", b"-1", b"5,5", b"0x5", b"\xb2", b"5 5", b"", b"99"]
CODINGS = [b"chunked", b"Chunked", b"gzip, chunked", b"chunked, chunked", b"identity", b"gzip", b"x", b""]
OTHERS = [b"Expect: 100-continue", b"Expect: x", b"Connection: close", b"Host: a", b"A : b", b" folded", b"X"]
SIZES = [
    b"0",
    b"5",
    b"05",
    b"0" * 20 + b"5",
    b"5;x=y",
    b"5 ;x",
    b"5 ",
    b"\t5",
    b"0x5",
    b"-5",
    b"",
    b"5;\r",
    b"5\n",
]
ENDS = [b"\r\n", b"\n", b"\r", b"", b"\r\n\r\n"]
PARTS = [
    b"hello",
    b"hel",
    b"0\r\n\r\n",
    b"\r\n",
    b"A: b\r\n\r\n",
    b"Content-Length: 5\r\n\r\n",
    b"GET / HTTP/1.1\r\n",
]

header = st.one_of(
    st.builds(b"%s%s:%s%s%s".__mod__, st.tuples(
        st.sampled_from([b"Content-Length", b"content-length"]), st.sampled_from(BLANKS),
        st.sampled_from(BLANKS), st.sampled_from(LENGTHS), st.sampled_from(BLANKS))),
    st.builds(b"Transfer-Encoding:%s%s%s".__mod__, st.tuples(
        st.sampled_from(BLANKS), st.sampled_from(CODINGS), st.sampled_from(BLANKS))),
    st.sampled_from(OTHERS),
)  # fmt: skip
chunk = st.builds(
    b"%s%s%s%s".__mod__,
    st.tuples(
        st.sampled_from(SIZES), st.sampled_from(ENDS), st.sampled_from(PARTS[:3]), st.sampled_from(ENDS)
    ),
)
body = st.one_of(
    st.sampled_from(PARTS),
    st.lists(chunk, max_size=3).map(b"".join),
    st.lists(chunk, max_size=2).map(lambda chunks: b"".join(chunks) + b"0\r\n\r\n"),
    st.lists(st.just(b"5\r\nhello\r\n"), max_size=3).map(
        lambda chunks: b"".join(chunks) + b"0\r\nA: b\r\n\r\n"
    ),
)
request = st.builds(
    lambda line, headers, last, content: line + b"".join(h + b"\r\n" for h in headers) + last + content,
    st.sampled_from(LINES),
    st.lists(header, max_size=3),
    st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n", b""]),
    body,
)
stream = st.lists(request, min_size=1, max_size=3).map(b"".join)


class Seen(NamedTuple):
    """A complete request that a parser has found."""

    method: str
    uri: str
    version: tuple[int, int]
    headers: list[tuple[str, str]]
    trailers: list[tuple[str, str]]
    body: bytes


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Split bytes at these positions into non-empty chunks."""
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[begin:end] for begin, end in zip(bounds, bounds[1:], strict=False)]


def by_gunicorn(parts: list[bytes]) -> Iterator[Seen]:
    """Yield the complete requests that gunicorn finds before the end or before the first refused request."""
    parser = RequestParser(CONFIG, iter(parts), PEER)
    try:
        for found in parser:
            length = found.body.reader.length if isinstance(found.body.reader, LengthReader) else None
            content = found.body.read()
            if length not in (None, len(content)):
                return
            yield _seen(found, content)
    except Exception:  # noqa: BLE001 - any error of the parser is a refusal
        return


def by_event_loop(parts: list[bytes]) -> Iterator[Seen]:
    """Yield the complete requests that the event loop finds before the end or the first refused request."""
    waiting, rest = list(parts), b""
    while waiting or rest:
        arrival = Arrival(0.0, read_head=_read_head, most=lambda path: LARGE)
        while (rest or waiting) and not arrival.complete:
            data, rest = rest or waiting.pop(0), b""
            arrival.feed(data, 0.0)
        if arrival.fault is not None or not arrival.complete:
            return
        found, rest = arrival.take()
        yield _seen(found, found.body.read())
        if found.should_close():
            return


def _read_head(head: bytes) -> Any:
    return Request(CONFIG, IterUnreader([head]), PEER)


def _seen(found: Any, content: bytes) -> Seen:
    return Seen(found.method, found.uri, found.version, found.headers, found.trailers, content)


@settings(max_examples=1000, deadline=None)
@example(b"POST / HTTP/1.1\r\nContent-Length: 5 \r\n\r\nhel", [])
@example(b"POST / HTTP/1.1\r\nContent-Length: 5\t\r\n\r\nhello", [30])
@example(
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 17 + b"5\r\nhello\r\n0\r\n\r\n", [60]
)
@example(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\r\n\r\n", [])
@example(b"\r\nGET / HTTP/1.1\r\n\r\n", [1])
@given(data=stream, places=st.lists(st.integers(0, 500), max_size=4))
def test_both_parsers_find_the_same_requests(data, places):
    parts = cut(data, places)

    assert list(by_event_loop(parts)) == list(by_gunicorn(parts))


@settings(max_examples=500, deadline=None)
@given(data=stream, place=st.integers(0, 500), byte=st.binary(max_size=2))
def test_both_parsers_find_the_same_requests_in_wrong_bytes(data, place, byte):
    at = place % (len(data) + 1)
    wrong = data[:at] + byte + data[at + 1 :]

    assert list(by_event_loop([wrong])) == list(by_gunicorn([wrong]))


def test_the_event_loop_finds_a_chunked_request_and_the_next_request():
    chunks = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n"
    whole = [*by_event_loop([chunks, b"GET / HTTP/1.1\r\n\r\n"])]

    assert [(each.method, each.body, each.trailers) for each in whole] == [
        ("POST", b"hello", [("A", "b")]),
        ("GET", b"", []),
    ]

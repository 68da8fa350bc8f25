"""The event loop knows when a request has arrived completely, and refuses a wrong request at once."""

from __future__ import annotations

import pytest
from gunicorn.config import Config
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader

from config.web.arrival import HEAD_SECONDS, LEAST_RATE, LONGEST_HEAD, LONGEST_LINE, Arrival

MOST = 1000
CONFIG = Config()


def read_head(head: bytes) -> Request:
    return Request(CONFIG, IterUnreader([head]), ("127.0.0.1", 1))


def arrival(*parts: bytes, idle: float = HEAD_SECONDS) -> Arrival:
    most = {"/small": 10}
    coming = Arrival(0.0, read_head=read_head, most=lambda path: most.get(path, MOST), idle=idle)
    for part in parts:
        coming.feed(part, 1.0)
    return coming


def head(line: bytes = b"POST /large", *headers: bytes) -> bytes:
    return b"".join([line, b" HTTP/1.1\r\n", *(header + b"\r\n" for header in headers), b"\r\n"])


BODY = head(b"POST /large", b"Content-Length: 5") + b"12345"
CHUNKS = head(b"POST /large", b"Transfer-Encoding: chunked") + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
TRAILERS = CHUNKS[:-2] + b"Digest: x\r\n\r\n"


@pytest.mark.parametrize(
    "request_", [head(b"GET /"), BODY, CHUNKS, TRAILERS], ids=["head", "body", "chunks", "trailers"]
)
def test_a_request_is_complete_with_its_last_byte_in_any_chunks(request_):
    for cut in range(1, len(request_)):
        assert not arrival(request_[:cut]).complete
        whole = arrival(request_[:cut], request_[cut:])
        assert (whole.complete, whole.too_long, whole.fault) == (True, False, None)
    assert arrival(*(bytes([byte]) for byte in request_)).complete


@pytest.mark.parametrize(
    ("line", "length", "too_long"),
    [(b"POST /large", 1000, False), (b"POST /large", 1001, True), (b"POST /small?a=b", 11, True)],
)
def test_a_body_with_a_too_large_content_length_is_refused_at_once(line, length, too_long):
    coming = arrival(head(line, b"content-length: %d" % length))

    assert (coming.too_long, coming.complete) == (too_long, too_long)


def test_a_chunked_body_is_refused_as_soon_as_it_is_too_large():
    start = head(b"POST /large", b"Transfer-Encoding: chunked")

    assert arrival(start, b"fffffff\r\n").too_long
    assert not arrival(start, b"1f4\r\n", b"x" * 500, b"\r\n").complete
    assert arrival(start, b"1f4\r\n", b"x" * 500, b"\r\n1f4\r\n").too_long


@pytest.mark.parametrize(
    "rest", [b"zz\r\n", b"-1\r\n", b"1\r\nxyz", b"0\r\nA: b\n", b"1;\r\n", b"x" * (LONGEST_LINE + 1)]
)
def test_a_malformed_chunk_is_refused_at_once(rest):
    assert arrival(head(b"POST /", b"Transfer-Encoding: chunked"), rest).fault


@pytest.mark.parametrize("blank", [b" ", b"\t", b" \t "])
def test_spaces_after_the_content_length_are_ignored(blank):
    start = head(b"POST /large", b"Content-Length: 5" + blank)

    assert not arrival(start).complete
    assert arrival(start, b"12345").take()[0].body.read() == b"12345"


def test_a_blank_before_the_colon_is_refused():
    assert arrival(head(b"POST /large", b"Content-Length : 5")).fault


def test_a_chunk_size_may_have_any_number_of_digits():
    start = head(b"POST /large", b"Transfer-Encoding: chunked") + b"0" * 40 + b"5\r\n"

    assert not arrival(start, b"abc").complete
    assert arrival(start, b"abcde\r\n0\r\n\r\n").take()[0].body.read() == b"abcde"


@pytest.mark.parametrize(
    "headers",
    [
        [b"Content-Length: 5", b"Content-Length: 6"],
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Content-Length: +5"],
        [b"Content-Length: 5,5"],
        [b"Transfer-Encoding: gzip"],
        [b"Transfer-Encoding: chunked, chunked"],
    ],
)
def test_an_ambiguous_end_is_refused(headers):
    assert arrival(head(b"POST /large", *headers)).fault


def test_bytes_behind_a_request_are_kept_for_the_next_one():
    request, rest = arrival(BODY + b"GET /next").take()
    assert (request.body.read(), rest) == (b"12345", b"GET /next")
    request, rest = arrival(CHUNKS + b"GET /next").take()
    assert (request.body.read(), rest) == (b"abcde", b"GET /next")


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\n", b"GET / HTTP/1.1\r\nA: b\n", b"\r\n\r\n"])
def test_a_bare_line_feed_or_an_empty_line_is_refused_at_once(data):
    assert arrival(data).fault


def test_a_head_without_an_end_is_refused():
    assert arrival(b"GET /" + b"x" * LONGEST_LINE).fault
    assert not arrival(b"GET / HTTP/1.1\r\n", b"X: " + b"x" * 40_000).complete
    assert arrival(b"GET / HTTP/1.1\r\n", b"X: " + b"x" * LONGEST_HEAD).head_too_long


def test_a_client_that_expects_100_continue_gets_it():
    asked = head(b"POST /large", b"Content-Length: 5", b"Expect: 100-Continue")

    assert arrival(asked).wants_continue
    assert not arrival(asked + b"12345").wants_continue
    assert not arrival(head(b"POST /small", b"Content-Length: 50", b"Expect: 100-continue")).wants_continue


def test_a_head_has_a_time_limit_and_a_body_has_a_minimum_rate():
    assert arrival(idle=3.0).deadline == 3.0
    assert arrival(b"GET / HT").deadline == pytest.approx(1 + HEAD_SECONDS, abs=0.01)
    coming = arrival(head(b"POST /large", b"Content-Length: 999"))
    begun = coming.deadline
    coming.feed(b"x" * 500, 15.0)
    assert coming.deadline == pytest.approx(begun + 500 / LEAST_RATE)

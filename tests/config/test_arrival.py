"""A request is complete when a thread could read all of it at once, or when it never will be."""

from __future__ import annotations

import pytest

from config.web.arrival import HEAD_SECONDS, LEAST_RATE, LONGEST_HEAD, LONGEST_LINE, Arrival

MOST = 1000


def arrival(*pieces: bytes, idle: float = HEAD_SECONDS) -> Arrival:
    coming = Arrival(0.0, most=lambda path: 10 if path == "/small" else MOST, idle=idle)
    for piece in pieces:
        coming.feed(piece, 1.0)
    return coming


def head(line: bytes = b"POST /large", *headers: bytes) -> bytes:
    return b"".join([line, b" HTTP/1.1\r\n", *(header + b"\r\n" for header in headers), b"\r\n"])


BODY = head(b"POST /large", b"Content-Length: 5") + b"12345"
CHUNKS = head(b"POST /large", b"Transfer-Encoding: chunked") + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
TRAILERS = CHUNKS[:-2] + b"Digest: x\r\n\r\n"


@pytest.mark.parametrize(
    "request_", [head(b"GET /"), BODY, CHUNKS, TRAILERS], ids=["head", "body", "chunks", "trailers"]
)
def test_it_is_complete_with_its_last_byte_however_it_was_cut(request_):
    for cut in range(1, len(request_)):
        assert not arrival(request_[:cut]).complete
        whole = arrival(request_[:cut], request_[cut:])
        assert (whole.complete, whole.too_long) == (True, False)
    assert arrival(*(bytes([byte]) for byte in request_)).complete


@pytest.mark.parametrize(
    ("line", "length", "too_long"),
    [(b"POST /large", 1000, False), (b"POST /large", 1001, True), (b"POST /small?a=b", 11, True)],
)
def test_a_body_that_announces_to_be_too_long_is_not_waited_for(line, length, too_long):
    coming = arrival(head(line, b"content-length: %d" % length))

    assert (coming.too_long, coming.complete) == (too_long, too_long)


def test_chunks_that_add_up_to_too_much_are_not_waited_for():
    start = head(b"POST /large", b"Transfer-Encoding: chunked")

    assert arrival(start, b"fffffff\r\n").too_long
    assert not arrival(start, b"1f4\r\n", b"x" * 500, b"\r\n").complete
    assert arrival(start, b"1f4\r\n", b"x" * 500, b"\r\n1f4\r\n").too_long


@pytest.mark.parametrize("rest", [b"zz\r\n", b"-1\r\n", b"x" * (LONGEST_LINE + 1)])
def test_what_is_no_chunk_is_handed_on_to_be_refused(rest):
    assert arrival(head(b"POST /", b"Transfer-Encoding: chunked"), rest).complete


def test_a_head_without_an_end_is_refused():
    assert arrival(b"GET /" + b"x" * LONGEST_LINE).complete
    assert not arrival(b"GET / HTTP/1.1\r\n", b"X: " + b"x" * 40_000).complete
    assert arrival(b"GET / HTTP/1.1\r\n", b"X: " + b"x" * LONGEST_HEAD).head_too_long


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked():
    asked = head(b"POST /large", b"Content-Length: 5", b"Expect: 100-Continue")

    assert arrival(asked).wants_continue
    assert not arrival(asked + b"12345").wants_continue
    assert not arrival(head(b"POST /small", b"Content-Length: 50", b"Expect: 100-continue")).wants_continue


def test_it_has_a_time_for_its_head_and_its_body_must_come_at_a_least_rate():
    assert arrival(idle=3.0).deadline == 3.0
    assert arrival(b"GET / HT").deadline == pytest.approx(1 + HEAD_SECONDS, abs=0.01)
    coming = arrival(head(b"POST /large", b"Content-Length: 999"))
    begun = coming.deadline
    coming.feed(b"x" * 500, 15.0)
    assert coming.deadline == pytest.approx(begun + 500 / LEAST_RATE)


@pytest.mark.parametrize(
    ("line", "method"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"GET"),
        (b"HEAD /healthz HTTP/1.0\r\n\r\n", b"HEAD"),
        (b"GET /healthz/ HTTP/1.1\r\n\r\n", b"GET"),
        (b"POST /healthz HTTP/1.1\r\n\r\n", b""),
        (b"GET /healthz2 HTTP/1.1\r\n\r\n", b""),
        (b"GET /v3/docs HTTP/1.1\r\n\r\n", b""),
    ],
)
def test_a_question_for_its_health_is_seen(line, method):
    assert arrival(line).health == method


def test_whose_it_is_stands_in_its_authorization():
    assert arrival(head(b"GET /", b"authorization:  Bearer x ")).authorization == b"Bearer x "
    assert arrival(head(b"GET /?x=authorization: y")).authorization == b""

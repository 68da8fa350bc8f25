"""A body with chunked transfer encoding is read, although it has no `Content-Length`."""

from io import BytesIO
from unittest.mock import Mock

import pytest

from api.chunked_bodies import BufferChunkedBody

MAX_BYTES = 100_000


def received(body: bytes, **environ):
    """Return the length and body that the application gets, and the unread bytes of the stream."""
    stream, seen = BytesIO(body), dict[str, object]()

    def application(environ, start_response):
        seen.update(length=environ.get("CONTENT_LENGTH"), body=environ["wsgi.input"].read())
        return [b""]

    BufferChunkedBody(application, max_bytes=lambda path: MAX_BYTES)(
        {"wsgi.input": stream, **environ}, Mock()
    )
    return seen, stream.read()


@pytest.mark.parametrize("size", [0, 1, 65_536, MAX_BYTES])
def test_a_chunked_body_is_read_and_given_its_length(size):
    seen, _ = received(b"x" * size, HTTP_TRANSFER_ENCODING="Chunked")
    assert seen == {"length": str(size), "body": b"x" * size}


def test_a_body_that_is_too_large_is_read_only_up_to_its_limit():
    seen, rest = received(b"x" * (MAX_BYTES + 50), HTTP_TRANSFER_ENCODING="chunked")
    assert (seen["length"], len(rest)) == (str(MAX_BYTES + 1), 49)


def test_a_body_with_its_length_is_not_changed():
    seen, _ = received(b"abc", CONTENT_LENGTH="3")
    assert seen == {"length": "3", "body": b"abc"}

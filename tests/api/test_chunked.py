"""A body that came in chunks is not an empty one."""

from io import BytesIO

import pytest

from config.chunked import WithLength

MOST = 100_000


def received(body: bytes, **environ):
    """What the application behind is given, and what was left unread."""
    stream, seen = BytesIO(body), dict[str, object]()

    def application(environ, start_response):
        seen.update(length=environ.get("CONTENT_LENGTH"), body=environ["wsgi.input"].read())
        return [b""]

    WithLength(application, most=MOST)({"wsgi.input": stream, **environ}, None)
    return seen, stream.read()


@pytest.mark.parametrize("size", [0, 1, 65_536, MOST])
def test_a_chunked_body_is_read_and_given_its_length(size):
    seen, _ = received(b"x" * size, HTTP_TRANSFER_ENCODING="Chunked")
    assert seen == {"length": str(size), "body": b"x" * size}


def test_one_that_is_too_large_is_read_no_further_than_that_shows():
    seen, rest = received(b"x" * (MOST + 50), HTTP_TRANSFER_ENCODING="chunked")
    assert (seen["length"], len(rest)) == (str(MOST + 1), 49)


def test_a_body_that_names_its_length_is_left_alone():
    seen, _ = received(b"abc", CONTENT_LENGTH="3")
    assert seen == {"length": "3", "body": b"abc"}

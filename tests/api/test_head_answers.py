"""An answer to HEAD has the headers of GET and no body."""

from wsgiref.util import setup_testing_defaults

import pytest

from config.wsgi import application


def answer_to(method, path):
    """Return the status, the headers and the body that the WSGI application sends."""
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "HTTP_HOST": "127.0.0.1"}
    setup_testing_defaults(environ)
    sent = []

    def start(status, headers, exc_info=None):
        sent.append((status, dict(headers)))
        return sent.append

    body = application(environ, start)
    content = b"".join(body)
    if hasattr(body, "close"):
        body.close()
    [(status, headers)] = sent
    return status, headers, content


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/v3/nothing", "/admin/login/", "/v3/schema"])
def test_head_sends_the_length_of_get_and_no_body(path):
    status, headers, content = answer_to("GET", path)
    assert content
    bare = answer_to("HEAD", path)
    assert bare[0] == status
    assert bare[1].get("Content-Length") == headers.get("Content-Length")
    assert bare[2] == b""

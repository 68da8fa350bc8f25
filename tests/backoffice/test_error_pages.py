"""Error pages for operators. Clients of other paths get the error as JSON in the envelope."""

import pytest
from django.test import Client

from tests.factories import StaffFactory


def test_an_unknown_path_gets_an_error_page_for_people(operator):
    page = operator.get("/admin/orders/nothing-of-that-name/")
    assert page.status_code == 404
    assert "This page does not exist" in page.text
    assert 'id="ui-search-term"' in page.text
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]


def test_a_forbidden_page_says_so(db):
    nobody = Client()
    nobody.force_login(StaffFactory.create(username="new"))
    page = nobody.get("/admin/orders/order/")
    assert page.status_code == 403
    assert "Your role does not allow this" in page.text


def test_an_error_page_needs_no_database(operator, monkeypatch):
    operator.raise_request_exception = False
    monkeypatch.setattr("backoffice.site.gather", None)
    page = operator.get("/admin/")
    assert page.status_code == 500
    assert "Something went wrong" in page.text
    assert page.headers["X-Request-Id"] in page.text


def test_an_expired_form_names_the_remedy(db):
    client = Client(enforce_csrf_checks=True)
    page = client.post("/admin/login/", {"username": "olga", "password": "x"})
    assert page.status_code == 403
    assert "nothing was changed" in page.text


@pytest.mark.parametrize("path", ["/v3/nothing", "/nothing"])
def test_other_paths_keep_the_envelope(client, path):
    answer = client.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

"""TLS is a proxy's work; what browsers are made to do about it is a setting."""

from __future__ import annotations

import pytest
from django.test import Client


def test_browsers_are_made_to_insist_on_tls(settings):
    settings.SECURE_HSTS_SECONDS = 3600
    answer = Client().get("/v3/schema", secure=True)
    assert answer.headers["Strict-Transport-Security"] == "max-age=3600"


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "status"), [("/v3/schema", 301), ("/healthz", 200), ("/metrics", 200)])
def test_plain_http_is_redirected_but_for_those_who_ask_for_health(settings, path, status):
    settings.SECURE_SSL_REDIRECT = True

    answer = Client().get(path)

    assert answer.status_code == status
    assert answer.headers.get("Location", "https://testserver/v3/schema") == "https://testserver/v3/schema"

"""TLS ends at a proxy. Settings make the service redirect to https, and tell browsers to use it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client


def test_hsts_makes_browsers_use_tls(settings):
    settings.SECURE_HSTS_SECONDS = 3600
    answer = Client().get("/v3/schema", secure=True)
    assert answer.headers["Strict-Transport-Security"] == "max-age=3600"


@pytest.mark.program
def test_hsts_includes_subdomains_only_if_a_setting_says_so_and_never_preload():
    environment = {**os.environ, "HSTS_SECONDS": "3600", "HSTS_SUBDOMAINS": "1"}
    asked = "from django.conf import settings as s; print(s.SECURE_HSTS_SECONDS,"
    asked += " s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_HSTS_PRELOAD)"
    command = [sys.executable, "-c", asked]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.split() == ["3600", "True", "False"]


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "status"), [("/v3/schema", 301), ("/healthz", 200), ("/metrics", 200)])
def test_plain_http_is_redirected_except_for_health_checks(settings, path, status):
    settings.SECURE_SSL_REDIRECT = True

    answer = Client().get(path)

    assert answer.status_code == status
    assert answer.headers.get("Location", "https://testserver/v3/schema") == "https://testserver/v3/schema"

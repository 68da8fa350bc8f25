"""The token endpoint answers every kind of body with an OAuth error, never with 500."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_multipart_form_is_refused_as_an_unknown_media_type():
    answer = Client(raise_request_exception=False).post("/oauth/token", {"grant_type": "client_credentials"})

    assert (answer.status_code, answer.json()["error"]) == (415, "invalid_request")
    assert "not multipart/form-data" in answer.json()["message"]

"""Operators sign in by OpenID Connect. The tests run a small provider."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from django.test import Client

from events.models import Event
from tests.factories import StaffFactory

pytestmark = pytest.mark.django_db

SECRET = "a secret that only these two know of, and long"


class Provider(ThreadingHTTPServer):
    """An OpenID provider that always answers with the user in `claims`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.claims: dict[str, object] = {}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        base = self.server.url
        if self.path == "/userinfo":
            return self.say(self.server.claims)
        return self.say(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "userinfo_endpoint": f"{base}/userinfo",
                "jwks_uri": f"{base}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        )

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append(body)
        claims = {
            "iss": self.server.url,
            "aud": "exchange",
            "exp": int(time.time()) + 60,
            **self.server.claims,
        }
        self.say({"access_token": "t", "token_type": "Bearer", "id_token": jwt.encode(claims, SECRET)})

    def say(self, answer: object) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        """Log nothing, because the log lines would appear among the results of the tests."""


@pytest.fixture
def provider(settings):
    with Provider() as provider:
        thread = threading.Thread(target=provider.serve_forever, args=(0.02,))
        thread.start()
        settings.OPENID_APPS[:] = [
            {
                "provider_id": "oidc",
                "name": "Acme Login",
                "client_id": "exchange",
                "secret": SECRET,
                "settings": {"server_url": provider.url, "oauth_pkce_enabled": True},
            }
        ]
        yield provider
        settings.OPENID_APPS.clear()
        provider.shutdown()
        thread.join()


def come_back(client: Client) -> str:
    """Sign in at the provider as a browser does, and return the address of the last redirect."""
    away = client.get("/admin/oidc/oidc/login/?next=/admin/orders/order/").headers["Location"]
    state = parse_qs(urlsplit(away).query)["state"][0]
    answer = client.get("/admin/oidc/oidc/login/callback/", {"state": state, "code": "c"})
    return str(answer.headers["Location"])


def test_the_sign_in_page_offers_openid_only_if_it_is_set_up(provider, settings):
    page = Client().get("/admin/login/?next=/admin/events/event/").content
    assert b'oidc/oidc/login/?next=/admin/events/event/">Sign in with Acme Login' in page
    settings.OPENID_APPS.clear()
    assert b"Sign in with Acme" not in Client().get("/admin/login/").content
    assert Client().get("/admin/oidc/oidc/login/").status_code == 404


def test_an_operator_with_a_verified_address_is_signed_in_and_recognized_later(provider):
    StaffFactory.create(username="ada", email="Ada@example.com")
    provider.claims = {"sub": "7", "email": "ada@example.com", "email_verified": True}
    client = Client()

    assert come_back(client) == "/admin/orders/order/"
    assert client.get("/admin/").status_code == 200
    assert "code_verifier" in provider.asked[0]

    provider.claims = {"sub": "7", "email": "new-name@example.com", "email_verified": True}
    assert come_back(Client()) == "/admin/orders/order/"


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "ada@example.com", "email_verified": False},
        {"email": "ada@example.com"},
        {"email": "eve@example.com", "email_verified": True},
        {},
    ],
)
def test_no_other_user_signs_in_and_no_user_is_created(provider, claims, django_user_model):
    StaffFactory.create(username="ada", email="ada@example.com")
    provider.claims = {"sub": "7", **claims}
    client = Client()

    assert come_back(client) == "/admin/login/"
    assert b"No operator has the e-mail address" in client.get("/admin/login/").content
    assert client.get("/admin/").status_code == 302
    assert django_user_model.objects.count() == 1


def test_a_deactivated_user_cannot_sign_in_by_the_provider(provider):
    ada = StaffFactory.create(username="ada", email="ada@example.com")
    provider.claims = {"sub": "7", "email": "ada@example.com", "email_verified": True}
    come_back(Client())
    ada.is_active = False
    ada.save()

    assert come_back(Client()) == "/admin/login/"


def test_an_unrequested_answer_signs_no_one_in(provider):
    StaffFactory.create(username="ada", email="ada@example.com")
    provider.claims = {"sub": "7", "email": "ada@example.com", "email_verified": True}
    client = Client()
    client.get("/admin/oidc/oidc/login/callback/", {"state": "forged", "code": "c"})
    assert client.get("/admin/").status_code == 302
    assert not Event.objects.exists()

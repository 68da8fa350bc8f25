"""Authentication: find the key or token of the Authorization header, with one query."""

from __future__ import annotations

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts import failed_keys
from accounts.models import AccessToken, ApiKey, Credential, Retailer, Supplier
from accounts.scopes import Scope, parse_scopes
from api.client_networks import address_of
from api.errors import Forbidden, Unauthorized
from fastdb.compiled import CompiledQuery, Param
from fastdb.first import read_first


class Access:
    """The key and the scopes of a request. A token may have fewer scopes than its key."""

    def __init__(self, key: ApiKey, scopes: frozenset[Scope]) -> None:
        self.key, self.scopes = key, scopes


class BearerAuthentication(BaseAuthentication):
    """The authentication by `Authorization: Bearer <API key or access token>`."""

    def authenticate(self, request: Request) -> tuple[None, Access] | None:
        header = request.headers.get("Authorization", "")
        if not header:
            return None
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise Unauthorized("The Authorization header must read: Bearer <your API key>.")
        secret, address = secret.strip(), client_address(request)
        failed_keys.refuse_guessing(secret, address)
        access = find(secret)
        if access is None:
            failed_keys.failed(secret, address)
            raise Unauthorized("This key is unknown, expired or revoked.")
        failed_keys.accepted(secret)
        if not access.key.admits(address):
            raise Forbidden("This key may not be used from this network address.")
        access.key.touch()
        return None, access

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def find(secret: str) -> Access | None:
    """Return the access for a secret, or None if the secret is wrong, expired or revoked."""
    prefix = Credential.prefix_of(secret)
    if len(secret) > 200 or not prefix.isascii() or "\x00" in prefix:
        return None
    if prefix.startswith(f"{AccessToken.PREFIX_MARK}_"):
        return _by_token(prefix, secret)
    return _by_key(prefix, secret)


@CompiledQuery
def _keys() -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(prefix=Param("prefix")).order_by()


@CompiledQuery
def _tokens() -> QuerySet[AccessToken]:
    return AccessToken.objects.select_related("key").filter(prefix=Param("prefix")).order_by()


def _by_key(prefix: str, secret: str) -> Access | None:
    key = next(iter(read_first(lambda: _keys(prefix=prefix))), None)
    if key is None or not key.matches(secret) or not key.usable(at=timezone.now()):
        return None
    _name_party(key)
    return Access(key, key.granted)


def _by_token(prefix: str, secret: str) -> Access | None:
    token = next(iter(read_first(lambda: _tokens(prefix=prefix))), None)
    now = timezone.now()
    if token is None or not token.matches(secret) or not token.key.usable(at=now):
        return None
    if token.expires_at is None or token.expires_at <= now:
        return None
    _name_party(token.key)
    return Access(token.key, token.key.granted & parse_scopes(token.scopes or []))


def _name_party(key: ApiKey) -> None:
    """Set the key's party to an instance that has only its id; Django loads other fields on first use.

    Nearly all requests need only the id, and a join would double the cost of the query.
    """
    if key.supplier_id:
        key.supplier = Supplier.from_db(DEFAULT_DB_ALIAS, ["id"], [key.supplier_id])
    else:
        key.retailer = Retailer.from_db(DEFAULT_DB_ALIAS, ["id"], [key.retailer_id])


def client_address(request: Request | HttpRequest) -> str:
    """Return the client's address. With the setting BEHIND_PROXY, read it from the proxy's header."""
    peer, forwarded = str(request.META.get("REMOTE_ADDR", "")), request.headers.get("X-Forwarded-For", "")
    return address_of(peer, forwarded, behind_proxy=settings.BEHIND_PROXY)


class BearerScheme(OpenApiAuthenticationExtension):
    """The security scheme in the OpenAPI document."""

    target_class = "accounts.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key, or an access token from POST /oauth/token.",
        }

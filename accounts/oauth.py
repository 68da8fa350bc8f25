"""OAuth 2.0 client credentials (RFC 6749, section 4.4): exchange an API key for a short-lived token.

Every API key is a client: its prefix is the client_id, and the whole key is the client_secret.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote_plus

from rest_framework.request import Request

from accounts import failed_keys
from accounts.authentication import client_address, find
from accounts.models import ApiKey, Credential
from accounts.rates import Count, counter, parse_rate
from accounts.scopes import Scope, parse_scope
from api import caller, envelope
from api.parsers import loads, whole_body
from api.spelling import closest_match

# Wrong separators that clients put between scopes. RFC 6749, section 3.3, requires a space.
SEPARATORS = re.compile("[,;|+]+")

# The limit of wrong secrets for one client at one IP address. FAILED_KEYS_LIMIT limits the whole address.
WRONG_FOR_CLIENT = parse_rate("10/min")
PARAMETERS = ("grant_type", "client_id", "client_secret", "scope")


class OAuthError(Exception):
    """An error with the members of an OAuth error (RFC 6749, section 5.2) and of the API's other errors.

    It is no ApiError, whose code and status belong to the class.
    """

    def __init__(
        self,
        error: str,
        message: str,
        *,
        status: int = 400,
        code: str = "validation_error",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(message)
        self.error, self.message = error, message
        self.http_status, self.envelope_code, self.http_headers = status, code, dict(headers)

    def body(self) -> dict[str, object]:
        oauth_members = {"error": self.error, "error_description": self.message}
        return {**oauth_members, **envelope.error(self.envelope_code, self.message)}


def missing(name: str) -> OAuthError:
    return OAuthError("invalid_request", f"{name}: This field is required.", code="missing_parameter")


@dataclass(frozen=True)
class TokenRequest:
    """The parameters of a token request."""

    grant_type: str
    client_id: str
    client_secret: str
    scope: str
    by_basic: bool

    @classmethod
    def read(cls, request: Request) -> TokenRequest:
        """Read the form or JSON body and the Basic header. Raises OAuthError, ApiError."""
        fields = _body(request)
        basic = _basic(request.headers.get("Authorization", ""))
        if basic and "client_secret" in fields:
            raise OAuthError("invalid_request", "Send the client's secret once: in the header or the body.")
        client_id, secret = basic or (fields.get("client_id", ""), fields.get("client_secret", ""))
        if basic and fields.get("client_id", client_id) != client_id:
            raise OAuthError("invalid_request", "client_id: Differs from the Authorization header.")
        return cls(fields.get("grant_type", ""), client_id, secret, fields.get("scope", ""), bool(basic))


def entitled(request: Request) -> tuple[ApiKey, frozenset[Scope]]:
    """Return the key of a token request, and the scopes for the token. Raises OAuthError."""
    wanted = TokenRequest.read(request)
    if not wanted.grant_type:
        raise missing("grant_type")
    if wanted.grant_type != "client_credentials":
        message = "grant_type: Must be client_credentials."
        raise OAuthError("unsupported_grant_type", message)
    key = _client(request, wanted)
    return key, _scopes(key, wanted.scope)


def _body(request: Request) -> dict[str, str]:
    raw = whole_body(request)
    media_type = (request.content_type or "").split(";")[0].strip().lower()
    if not raw.strip():
        return {}
    if media_type == "application/json":
        fields = loads(raw)
    elif media_type == "application/x-www-form-urlencoded":
        fields = _form(raw)
    else:
        message = f"The body must be application/x-www-form-urlencoded or JSON, not {media_type or '?'}."
        raise OAuthError("invalid_request", message, status=415, code="unsupported_media_type")
    if not isinstance(fields, dict):
        raise OAuthError("invalid_request", "The body must be a JSON object.")
    # Ignore other parameters, and parameters without a value (RFC 6749, section 3.2).
    known = {name: fields[name] for name in PARAMETERS if fields.get(name) not in (None, "")}
    for name, value in known.items():
        if not isinstance(value, str):
            raise OAuthError("invalid_request", f"{name}: Must be a string.")
    return known


def _form(raw: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError as error:
        raise OAuthError("invalid_request", "The form cannot be read as UTF-8 form data.") from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise OAuthError("invalid_request", "A parameter appears twice in the form.")
    return fields


def _basic(header: str) -> tuple[str, str] | None:
    """Return the client's id and secret from `Authorization: Basic`, or None without such a header."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        text = ""
    client_id, colon, secret = text.partition(":")
    if not colon:
        raise _wrong_client("The Authorization header is not Basic base64(client_id:client_secret).")
    return unquote_plus(client_id), unquote_plus(secret)


def _client(request: Request, wanted: TokenRequest) -> ApiKey:
    if not wanted.client_id or not wanted.client_secret:
        if wanted.by_basic:
            raise _wrong_client("The client's id or secret is empty.")
        raise missing("client_secret" if wanted.client_id else "client_id")
    address = client_address(request)
    names = {
        f"wrong:{Credential.prefix_of(wanted.client_id)[:40]}:{address}": WRONG_FOR_CLIENT,
        failed_keys.bucket(address): failed_keys.rate(),
    }
    for name, rate in names.items():
        if rate:
            _refuse_guessing(counter().look(rate, name), of_address=name == failed_keys.bucket(address))
    access = find(wanted.client_secret)
    # A token must not be exchanged for another token: a client could then renew its access forever.
    is_api_key = wanted.client_secret.startswith(f"{ApiKey.PREFIX_MARK}_")
    if access is None or not is_api_key or access.key.prefix != wanted.client_id:
        for name, rate in names.items():
            if rate:
                counter().hit(rate, name)
        raise _wrong_client("The client is unknown, its secret wrong, or its key expired or revoked.")
    if not access.key.admits(address):
        raise _wrong_client("This client may not be used from this network address.")
    access.key.touch()
    return access.key


def _refuse_guessing(count: Count | None, *, of_address: bool) -> None:
    if count is None or count.allowed:
        return
    caller.reject(refused_for=count.reset if of_address else 0.0)
    raise OAuthError(
        "slow_down",
        f"Too many wrong secrets. Try again in {count.reset} s.",
        status=429,
        code="rate_limited",
        headers={**count.headers("address" if of_address else "client"), "Retry-After": str(count.reset)},
    )


def _wrong_client(message: str) -> OAuthError:
    headers = {"WWW-Authenticate": 'Basic realm="exchange"'}
    return OAuthError("invalid_client", message, status=401, code="unauthorized", headers=headers)


def _scopes(key: ApiKey, text: str) -> frozenset[Scope]:
    """Return the requested scopes; for an empty text, all scopes of the key. Raises OAuthError."""
    if not text.strip():
        return key.granted
    requested: set[Scope] = set()
    for word in text.split():
        try:
            covered = parse_scope(word)
        except ValueError:
            raise _wrong_scope(f"Unknown scope {word[:60]}.{_hint(word, text)}", key) from None
        # A word such as `read:suppliers` covers several scopes. Grant only scopes of the key: the response
        # lists the granted scopes.
        granted = covered & key.granted
        if not granted:
            raise _wrong_scope(f"This client does not have the scope {word[:60]}.", key)
        requested |= granted
    return frozenset(requested)


def _hint(word: str, text: str) -> str:
    """Return a suggestion for an unknown scope, or an empty text if no known scope is similar."""
    if SEPARATORS.search(word):
        proper = " ".join(SEPARATORS.sub(" ", text).split())
        return f" Scopes are separated by blanks: did you mean {proper[:120]}?"
    near = closest_match(word, [scope.value for scope in Scope])
    return f" Did you mean {near}?" if near else ""


def _wrong_scope(message: str, key: ApiKey) -> OAuthError:
    granted = " ".join(sorted(scope.value for scope in key.granted))
    return OAuthError("invalid_scope", f"scope: {message} It has: {granted}.")

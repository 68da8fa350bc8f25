"""The parser of a webhook's URL, which refuses URLs that the service must not call."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from django.conf import settings

from events.webhooks.addresses import REFUSAL, is_allowed, is_listed, parse_address

SCHEMES = {"https": 443, "http": 80}
UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\\]")
NAME = re.compile(r"(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?")

# Names of this host or of its own network (RFC 6761, 6762, 8375). They never have a public address.
LOCAL_NAME = re.compile(r"([^.]+|(.+\.)?(localhost|local|internal|home\.arpa))\.?")


class WrongWebhookUrl(ValueError):
    """The error for a URL that cannot be used. Its message tells the partner the reason."""


class WebhookTarget(NamedTuple):
    """The parts of a webhook's URL. The host is an ASCII name, or an address without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return the value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == SCHEMES[self.scheme] else f"{host}:{self.port}"


def parse_url(url: str) -> WebhookTarget:
    """Return the parts of an allowed URL. Raises WrongWebhookUrl.

    The addresses of a host name are checked for each connection, not here. Names that are never public, such
    as `localhost`, are refused unless WEBHOOK_NETWORKS allows addresses that are not public.
    """
    if UNSAFE.search(url):
        raise WrongWebhookUrl("Must be a URL without blanks, such as https://shop.example/hooks.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise WrongWebhookUrl(f"Is not a URL: {error}.") from error
    if parts.scheme not in SCHEMES:
        raise WrongWebhookUrl("Must begin with https://.")
    if parts.username is not None or parts.password is not None:
        raise WrongWebhookUrl("Must not contain a user or a password. Deliveries are signed instead.")
    if parts.fragment:
        raise WrongWebhookUrl("Must not have a fragment (#…).")
    if port == 0:
        raise WrongWebhookUrl("Must not use port 0.")
    target = WebhookTarget(
        parts.scheme, _host(parts.hostname or ""), port or SCHEMES[parts.scheme], _path(parts)
    )
    _refuse_address(target)
    return target


def _host(name: str) -> str:
    if "%" in name:
        raise WrongWebhookUrl("Must not name a zone after the address (%…).")
    if parse_address(name):
        return name
    try:
        ascii_name = name.encode("idna").decode() if not name.isascii() else name
    except UnicodeError as error:
        raise WrongWebhookUrl(f"Has an unusable host: {error}.") from error
    # Some resolvers read a host that looks like a number as an address, such as 0x7f000001 for 127.0.0.1.
    if not NAME.fullmatch(ascii_name) or re.fullmatch(r"(.*\.)?(\d+|0x[0-9a-f]*)\.?", ascii_name):
        raise WrongWebhookUrl("Must name a host, such as https://shop.example/hooks.")
    return ascii_name


def _path(parts: object) -> str:
    path, query = getattr(parts, "path", ""), getattr(parts, "query", "")
    safe = "/:@!$&'()*+,;=-._~%?"
    return quote(path or "/", safe=safe) + (f"?{quote(query, safe=safe)}" if query else "")


def _refuse_address(target: WebhookTarget) -> None:
    address = parse_address(target.host)
    if address is not None and not is_allowed(address):
        raise WrongWebhookUrl(REFUSAL)
    if address is None and LOCAL_NAME.fullmatch(target.host) and not settings.WEBHOOK_NETWORKS:
        raise WrongWebhookUrl(REFUSAL)
    if target.scheme == "http" and not (is_listed(address) if address else settings.WEBHOOK_NETWORKS):
        raise WrongWebhookUrl("Must begin with https://.")

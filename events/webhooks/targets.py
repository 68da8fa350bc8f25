"""A webhook's URL: what it must look like, and its parts."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from django.conf import settings

from events.webhooks.addresses import is_allowed, is_listed, parse_address

SCHEMES = {"https": 443, "http": 80}
UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\\]")
NAME = re.compile(r"(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?")


class WrongUrl(ValueError):
    """A URL that nothing can be sent to; the message says why, for the partner."""


class Target(NamedTuple):
    """Where a webhook's URL leads. The host is a name in ASCII, or an address without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """As the Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == SCHEMES[self.scheme] else f"{host}:{self.port}"


def parse_url(url: str) -> Target:
    """The parts of a URL that may be called, as far as it shows itself. Raises WrongUrl.

    Which addresses a name has is looked at when a connection is made, each time.
    """
    if UNSAFE.search(url):
        raise WrongUrl("Must be a URL without blanks, such as https://shop.example/hooks.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise WrongUrl(f"Is no URL: {error}.") from error
    if parts.scheme not in SCHEMES:
        raise WrongUrl("Must begin with https://.")
    if parts.username is not None or parts.password is not None:
        raise WrongUrl("Must not hold a user or a password; deliveries are signed.")
    if parts.fragment:
        raise WrongUrl("Must not have a fragment (#…).")
    if port == 0:
        raise WrongUrl("Port 0 cannot be called.")
    target = Target(parts.scheme, _host(parts.hostname or ""), port or SCHEMES[parts.scheme], _path(parts))
    _refuse_address(target)
    return target


def _host(name: str) -> str:
    if parse_address(name):
        return name
    try:
        ascii_name = name.encode("idna").decode() if not name.isascii() else name
    except UnicodeError as error:
        raise WrongUrl(f"Has no host that can be called: {error}.") from error
    # What looks like a number, some resolvers take for an address.
    if not NAME.fullmatch(ascii_name) or re.fullmatch(r"(.*\.)?(\d+|0x[0-9a-f]*)\.?", ascii_name):
        raise WrongUrl("Must name a host, such as https://shop.example/hooks.")
    return ascii_name


def _path(parts: object) -> str:
    path, query = getattr(parts, "path", ""), getattr(parts, "query", "")
    safe = "/:@!$&'()*+,;=-._~%?"
    return quote(path or "/", safe=safe) + (f"?{quote(query, safe=safe)}" if query else "")


def _refuse_address(target: Target) -> None:
    address = parse_address(target.host)
    if address is not None and not is_allowed(address):
        raise WrongUrl(f"{target.host} is no public address.")
    if target.scheme == "http" and not (is_listed(address) if address else settings.WEBHOOK_NETWORKS):
        raise WrongUrl("Must begin with https://.")

"""The network addresses that webhooks may use: public ones, and the networks in WEBHOOK_NETWORKS."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

from django.conf import settings

Address = IPv4Address | IPv6Address

# A gateway translates these addresses to the IPv4 address in their last bytes (RFC 6052).
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def parse_address(text: str) -> Address | None:
    """Return the address of a URL's host, or None if the host is a name."""
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def is_allowed(address: Address) -> bool:
    """Return whether the service may connect to this address."""
    return is_listed(address) or all(map(_is_public, (address, *_inside(address))))


def is_listed(address: Address) -> bool:
    """Return whether WEBHOOK_NETWORKS contains the address. Plain HTTP is allowed only there."""
    return any(address in network for network in settings.WEBHOOK_NETWORKS)


def _is_public(address: Address) -> bool:
    return address.is_global and not address.is_multicast


def _inside(address: Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that are embedded in an IPv6 address."""
    if isinstance(address, IPv4Address):
        return []
    embedded = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in TRANSLATED:
        embedded.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [inner for inner in embedded if inner is not None]

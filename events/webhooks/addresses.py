"""Which network addresses may be called: public ones, and those that WEBHOOK_NETWORKS names."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

from django.conf import settings

Address = IPv4Address | IPv6Address

# Addresses that a gateway translates to the IPv4 address in their last bytes (RFC 6052).
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def parse_address(text: str) -> Address | None:
    """The address that a URL's host is written as; None for a name."""
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def is_allowed(address: Address) -> bool:
    """Whether the service may connect there on a partner's word."""
    return is_listed(address) or all(_is_public(each) for each in (address, *_inside(address)))


def is_listed(address: Address) -> bool:
    """Whether WEBHOOK_NETWORKS names it. Only there is plain HTTP allowed."""
    return any(address in network for network in settings.WEBHOOK_NETWORKS)


def _is_public(address: Address) -> bool:
    return address.is_global and not address.is_multicast


def _inside(address: Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in TRANSLATED:
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]

"""The address that a request comes from, and the network by which limits count it."""

from __future__ import annotations

import ipaddress

IPV6_PREFIX = 64
"""One subscriber usually has this whole prefix."""


def address_of(peer: str, forwarded: str, *, behind_proxy: bool) -> str:
    """Return the client's address: the peer's, or behind our proxy the last one of `X-Forwarded-For`.

    The client itself may have written the addresses further left, so they are ignored.
    """
    return (forwarded.rpartition(",")[2].strip() if behind_proxy else "") or peer


def network_of(address: str) -> str:
    """Return an address as limits count it: an IPv6 address by its prefix of 64 bits."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, IPV6_PREFIX), strict=False))

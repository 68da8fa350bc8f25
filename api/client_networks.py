"""The address of a request's client, and the network for which rate limits count requests."""

from __future__ import annotations

import ipaddress
import re

WITH_PORT = re.compile(r"(?:\[([^\]]*)\]|([^:\[\]]+))(?::[0-9]+)?")
"""An address as some proxies write it: `192.0.2.7:51234` or `[2001:db8::1]:51234`."""
IPV6_PREFIX = 64
"""The prefix length of an IPv6 network that usually belongs to one subscriber."""
MAPPED_PREFIX = 96
"""The prefix length of `::ffff:0:0`, the network of all IPv4 addresses in the form of IPv6."""


def address_of(peer: str, forwarded: str, *, behind_proxy: bool) -> str:
    """Return the client's address. Behind our proxy, it is the last address in `X-Forwarded-For`.

    Other addresses in `X-Forwarded-For` are ignored, because the client itself may have written them. The
    port of an address is left out: with the port, each connection would count as another client.
    """
    last = forwarded.rpartition(",")[2].strip() if behind_proxy else ""
    match = WITH_PORT.fullmatch(last)
    return (match[1] or match[2] if match else last) or peer


def parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address without its zone, or None for another text.

    An IPv4 address in the form of IPv6, such as `::ffff:192.0.2.7`, is returned as an IPv4 address.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def parsed_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Return a network in CIDR notation. Raises ValueError.

    An IPv4 network in the form of IPv6 is returned as an IPv4 network, because `parsed` returns its addresses
    as IPv4 addresses.
    """
    network = ipaddress.ip_network(text)
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < MAPPED_PREFIX:
        return network
    return ipaddress.IPv4Network((mapped, network.prefixlen - MAPPED_PREFIX))


def network_of(address: str) -> str:
    """Return the key of a client in rate limits: the /64 network of an IPv6 address, or an IPv4 address."""
    found = parsed(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, IPV6_PREFIX), strict=False))
    return str(found or address)

"""Network addresses in the forms in which they are recorded and counted."""

from __future__ import annotations

import ipaddress


def plain_address(address: str) -> str:
    """Return an address without interface name, and a mapped IPv4 address as IPv4."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip)


def source_of(address: str) -> str:
    """Return the unit for counting: the IPv4 address, or the IPv6 network, since a host has a whole /64."""
    plain = plain_address(address)
    return str(ipaddress.ip_network(f"{plain}/64", strict=False)) if ":" in plain else plain

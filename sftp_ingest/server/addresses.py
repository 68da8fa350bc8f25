"""Two forms of a client's address: `plain_address` for sessions and logs, and `source_of` for limits."""

from __future__ import annotations

import ipaddress


def plain_address(address: str) -> str:
    """Return an address without its interface name. An IPv4-mapped IPv6 address becomes IPv4."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip)


def source_of(address: str) -> str:
    """Return the key for limits: an IPv4 address, or a /64 network, which may belong to one IPv6 host."""
    plain = plain_address(address)
    return str(ipaddress.ip_network(f"{plain}/64", strict=False)) if ":" in plain else plain

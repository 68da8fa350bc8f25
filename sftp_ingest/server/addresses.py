"""Network addresses, as they are recorded and as they are counted."""

from __future__ import annotations

import ipaddress


def plain_address(address: str) -> str:
    """Without an interface's name; one of IPv4 that came in over IPv6 as itself."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip)


def source_of(address: str) -> str:
    """Whom an address stands for: itself, or with IPv6 its network, of which one host has a whole one."""
    plain = plain_address(address)
    return str(ipaddress.ip_network(f"{plain}/64", strict=False)) if ":" in plain else plain

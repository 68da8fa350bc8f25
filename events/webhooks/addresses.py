"""The network addresses that webhooks may use: public addresses, and the networks in WEBHOOK_NETWORKS.

This module has its own list of non-public networks, from IANA's registries of special-purpose addresses.
`ipaddress.is_global` depends on the version of Python and counts 192.0.0.9, fec0::/10 and others as global.
"""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

from django.conf import settings

Address = IPv4Address | IPv6Address

REFUSAL = "The host has no address that webhooks may use."
"""The message for every refused host, known or unknown. It must not reveal names of the internal network."""

NOT_PUBLIC = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and cloud metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocols
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")  # the only unicast range that is in use
NOT_PUBLIC_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # IETF protocols, including Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: leads to any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
# Networks of IPv6 addresses with an IPv4 address in the last four bytes: IPv4-mapped addresses, and addresses
# that a NAT64 gateway translates (RFC 6052).
MAPPED, TRANSLATED = ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96")


def parse_address(text: str) -> Address | None:
    """Return the address of a URL's host, or None if the host is a name."""
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def is_allowed(address: Address) -> bool:
    """Return whether the service may connect to this address."""
    return is_listed(address) or _is_public(address)


def is_listed(address: Address) -> bool:
    """Return whether WEBHOOK_NETWORKS contains the address. Plain HTTP is allowed only there."""
    return any(address in network for network in settings.WEBHOOK_NETWORKS)


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        if address not in MAPPED and address not in TRANSLATED:
            return address in PUBLIC_V6 and not any(address in network for network in NOT_PUBLIC_V6)
        address = IPv4Address(int(address) & 0xFFFFFFFF)
    return not any(address in network for network in NOT_PUBLIC)

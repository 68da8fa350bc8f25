"""URLs with several hosts, such as `scheme://user:password@one:1,[::1]:2/name`.

Some releases of Python's urllib refuse a URL with brackets after its first host.
"""

from __future__ import annotations

import re
from typing import NamedTuple

URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#]*)@)?([^/?#]*)(.*)", re.DOTALL)
HOST = re.compile(r"(\[[^\]]+\]|[^:\[\]]+)(?::(\d+))?")
"""A host with an optional port."""


class SeveralHostsUrl(NamedTuple):
    """The parts of a URL, as text that is not decoded."""

    scheme: str
    login: str | None
    """`user:password`. None if the URL has no `@`."""
    hosts: str
    """The hosts and ports, separated by commas."""
    rest: str
    """Path, query and fragment."""

    @classmethod
    def split(cls, url: str) -> SeveralHostsUrl:
        """Split a URL. Raises ValueError if it does not begin with `scheme://`."""
        match = URL.fullmatch(url)
        if match is None:
            raise ValueError("The URL must begin with scheme://.")
        scheme, login, hosts, rest = match.groups()
        return cls(scheme.lower(), login, hosts, rest)

    def addresses(self) -> list[tuple[str, str | None]]:
        """Return each host, without brackets, and its port. Raises ValueError if an address is wrong."""
        matches = [HOST.fullmatch(address) for address in self.hosts.split(",")]
        if None in matches:
            raise ValueError(f"The hosts are {self.hosts}, and must read host:port,host:port.")
        return [(match[1].strip("[]"), match[2]) for match in matches if match]

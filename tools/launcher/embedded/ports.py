"""TCP ports of this machine."""

import socket


def free_port(host: str = "127.0.0.1") -> int:
    """Return a free port. Another program may take it first, so the caller must retry."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def taken(host: str, port: int) -> bool:
    """Return whether another program uses the address, or this process has no permission for it."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError:
            return True
    return False

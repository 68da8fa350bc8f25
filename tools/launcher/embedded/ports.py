"""TCP ports of this machine."""

import errno
import socket


def free_port(host: str = "127.0.0.1") -> int:
    """Return a free port. Another program may take it first, so the caller must retry."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def obstacle(host: str, port: int, variable: str) -> str:
    """Return why no program can listen at this address, and the remedy, or an empty string.

    `variable` is the name of the setting of the port: PORT or SFTP_PORT.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"Port {port} on {host} is taken: free it, or choose another one with {variable}=…"
        setting = f"{variable.replace('PORT', 'HOST')} or {variable}"
        return f"Port {port} on {host} cannot be used: {error.strerror}. Correct {setting}."
    return ""

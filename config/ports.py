"""The ports and the addresses at which the services listen."""

import sys

LARGEST = 65_535


def port_number(name: str, text: str, *, least: int = 1) -> int:
    """Return the port that a variable sets. Exit with code 2 and one sentence if it is not a port.

    With `least=0`, the variable may be 0: the system chooses a free port.
    """
    digits = text.strip()
    if digits.isascii() and digits.isdigit() and len(digits) <= 5 and least <= int(digits) <= LARGEST:
        return int(digits)
    sys.stderr.write(f"{name} is {text!r}: set it to a port number from {least} to {LARGEST}.\n")
    sys.exit(2)


def reachable(host: str) -> str:
    """Return the address of a server that listens on `host`: loopback if `host` means all addresses."""
    return {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not bound


def in_url(host: str) -> str:
    """Return an address for a URL. An IPv6 address gets brackets."""
    return f"[{host}]" if ":" in host else host

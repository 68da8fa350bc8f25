"""The check that variables such as PORT contain a port number."""

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

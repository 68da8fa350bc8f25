"""Which blocks of a file may go to COPY as they are."""

from __future__ import annotations

import re
from collections.abc import Callable

CONTROLS = bytes(each for each in range(32) if each not in b"\t\n\r") + b"\x7f"
LONE_RETURN = re.compile(rb"\r(?!\n)")


def well_formed(delimiter: str) -> Callable[[bytes], bool]:
    """A test that every quote opens, closes or is doubled: what COPY and we read alike.

    What stands outside of quotes is nothing (in a doubled quote), or begins and ends where cells do. Written
    without possessive groups, with which Python before 3.11.5 finds what is not there.
    """
    d = re.escape(delimiter.encode())
    misplaced = re.compile(rb'"(?:(?<=[^"' + d + rb'\n]")|(?!["' + d + rb"\n]|\r\n|\Z))")

    def test(data: bytes) -> bool:
        parts = data.split(b'"')
        outside = b'"'.join(parts[::2])
        return len(parts) % 2 == 1 and not misplaced.search(outside) and not LONE_RETURN.search(outside)

    return test


def is_clean(data: bytes, well_formed: Callable[[bytes], bool]) -> bool:
    """Whether COPY reads this block as it is meant: before PostgreSQL 18 a line \\. would end it."""
    if b"\\" in data and (data.startswith(b"\\.") or b"\n\\." in data or b"\r\\." in data):
        return False
    if len(data.translate(None, CONTROLS)) < len(data):
        return False
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return b'"' not in data or well_formed(data)

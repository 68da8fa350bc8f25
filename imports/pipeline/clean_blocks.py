"""Decide which blocks of a file COPY can take unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable

CONTROLS = bytes(each for each in range(32) if each not in b"\t\n\r") + b"\x7f"
LOST = "\ufffd".encode()
LONE_RETURN = re.compile(rb"\r(?!\n)")


def well_formed(delimiter: str) -> Callable[[bytes], bool]:
    """Return a test that every quote opens, closes or is doubled: then COPY reads the block as we do.

    Text outside of quotes must be empty (a doubled quote) or begin and end where cells do. There are no
    possessive groups: Python before 3.11.5 matches them wrongly.
    """
    d = re.escape(delimiter.encode())
    misplaced = re.compile(rb'"(?:(?<=[^"' + d + rb'\n]")|(?!["' + d + rb"\n]|\r\n|\Z))")

    def test(data: bytes) -> bool:
        parts = data.split(b'"')
        outside = b'"'.join(parts[::2])
        return len(parts) % 2 == 1 and not misplaced.search(outside) and not LONE_RETURN.search(outside)

    return test


def clean_blocks(delimiter: str) -> Callable[[bytes], bool]:
    """Return a test that COPY reads a block correctly and no row needs the tolerant reader."""
    is_well_formed, wants_a_look = well_formed(delimiter), closer_look(delimiter)

    def test(data: bytes) -> bool:
        return is_clean(data, is_well_formed) and not wants_a_look(data)

    return test


def closer_look(delimiter: str) -> Callable[[bytes], bool]:
    """Return a test for blocks that need the tolerant reader: blank rows, `="00123"`, lost characters."""
    d = re.escape(delimiter.encode())
    blanks = rb'[ \t\xc2\xa0"' + d + rb"]"
    # The first pattern is quick and matches in hardly any block.
    might_begin_blank = re.compile(rb"\n(?:[ \t\xc2" + d + rb']|"")')
    blank_row = re.compile(rb"(?:\A|\n)" + blanks + rb"+\r?(?:\n|\Z)")
    as_text = re.compile(rb'="(?:(?<=[\n' + d + rb']=")|(?<=[\n' + d + rb']"=")")')

    def test(data: bytes) -> bool:
        begins = data[:1] in (b" ", b"\t", b"\xc2", b'"', delimiter.encode()) or might_begin_blank.search(
            data
        )
        if begins and blank_row.search(data):
            return True
        if data.startswith((b'="', b'"=""')) or as_text.search(data):
            return True
        return not data.isascii() and LOST in data

    return test


def is_clean(data: bytes, well_formed: Callable[[bytes], bool]) -> bool:
    """Whether COPY reads this block as written. Before PostgreSQL 18 a line \\. would end it."""
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

"""Decide which blocks of a file can go to COPY unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable

CONTROLS = bytes(each for each in range(32) if each not in b"\t\n\r") + b"\x7f"
LOST = "\ufffd".encode()
LONE_RETURN = re.compile(rb"\r(?!\n)")


def well_formed(delimiter: str) -> Callable[[bytes], bool]:
    """Return a test for blocks in which every quote opens a cell, closes a cell or is doubled.

    COPY reads such a block in the same way as our own reader. The text between two quoted parts must be empty
    (a doubled quote), or begin and end at the edges of cells. The pattern has no possessive groups, because
    Python before 3.11.5 matches them wrongly.
    """
    d = re.escape(delimiter.encode())
    misplaced = re.compile(rb'"(?:(?<=[^"' + d + rb'\n]")|(?!["' + d + rb"\n]|\r\n|\Z))")

    def test(data: bytes) -> bool:
        parts = data.split(b'"')
        outside = b'"'.join(parts[::2])
        return len(parts) % 2 == 1 and not misplaced.search(outside) and not LONE_RETURN.search(outside)

    return test


def clean_blocks(delimiter: str) -> Callable[[bytes], bool]:
    """Return a test for blocks that COPY reads correctly and in which no row needs the tolerant reader."""
    is_well_formed, wants_a_look = well_formed(delimiter), closer_look(delimiter)

    def test(data: bytes) -> bool:
        return is_clean(data, is_well_formed) and not wants_a_look(data)

    return test


def closer_look(delimiter: str) -> Callable[[bytes], bool]:
    """Return a test for blocks that need the tolerant reader.

    Such blocks have blank rows, formulas like `="00123"`, or the character U+FFFD, which replaces a lost
    character.
    """
    d = re.escape(delimiter.encode())
    blanks = rb'[ \t\xc2\xa0"' + d + rb"]"
    # Test this pattern first: it is fast, and it matches in very few blocks.
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
    """Return whether COPY reads this block as written. Before PostgreSQL 18, a line `\\.` ends the COPY."""
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

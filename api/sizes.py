"""How large a request's body may be, looked at before anything else is (contract 13, Sizes).

Everything here runs at the speed of `bytes` itself over blocks, and stops at the first excess: what is
refused costs next to nothing, and an ordinary body is counted through in microseconds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from django.conf import settings

from api.errors import TooLarge

MOST_NESTED = 50
MOST_MEMBERS = 1_000
MOST_BYTES_OF_A_CREDENTIAL = 64 * 1024

BLOCK = 64 * 1024
FLAT = ord("o")
TOO_DEEP = f"The body is nested too deeply: at most {MOST_NESTED} levels are read."
STRUCTURE = re.compile(rb":+|o+|[{}\[\]]")
"""Colons in a row, objects and arrays without any inside (`o`) in a row, and the other brackets."""
BACKSLASHES = re.compile(rb"\\*")
NO_STRUCTURE = bytes(set(range(256)) - set(b"{}[]:"))


def most_bytes(path: str) -> int:
    """The largest body that a path takes."""
    largest: int = settings.MAX_BODY_BYTES
    return min(largest, MOST_BYTES_OF_A_CREDENTIAL) if path.startswith("/oauth/") else largest


def refuse_long(path: str, length: str) -> None:
    """Refuse a body that announces to be longer than its path takes. Raises TooLarge."""
    most = most_bytes(path)
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise TooLarge(f"The body has {length[:20]} bytes; at most {most} are read here.")


def refuse_sprawling(text: bytes) -> None:
    """Refuse JSON that is nested too deeply, or with too many members in one object. Raises TooLarge.

    What is no JSON at all passes, or is refused here: the parser has the last word.
    """
    if text.count(b":") <= MOST_MEMBERS and text.count(b"{") + text.count(b"[") <= MOST_NESTED:
        return
    members: list[int] = []
    """Of each object that is open, so far; of an array nothing is counted."""
    for token in _structure(text):
        if token[0] == FLAT:
            if len(members) >= MOST_NESTED:
                raise TooLarge(TOO_DEEP)
        elif token in b"{[":
            members.append(0)
            if len(members) > MOST_NESTED:
                raise TooLarge(TOO_DEEP)
        elif not members:
            return
        elif token in b"}]":
            members.pop()
        else:
            members[-1] += len(token)
            if members[-1] > MOST_MEMBERS:
                raise TooLarge(f"An object in the body has more than {MOST_MEMBERS} members.")


def _structure(text: bytes) -> Iterator[bytes]:
    """The brackets of a JSON text, and the colons between two of them as one."""
    inside = False
    for block in _blocks(text):
        parts = block.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[inside::2])
        inside ^= len(parts) % 2 == 0
        yield from STRUCTURE.findall(_flat(MOST_MEMBERS).sub(b"o", outside.translate(None, NO_STRUCTURE)))


@functools.cache
def _flat(most: int) -> re.Pattern[bytes]:
    """What has nothing nested inside: most of a large body, and done with at once."""
    return re.compile(rb"\{:{0,%d}\}|\[\]" % most)


def _blocks(text: bytes) -> Iterator[bytes]:
    """The text in pieces, none of which begins in the midst of an escape."""
    begin = 0
    while begin < len(text):
        end = begin + BLOCK
        if text[end - 1 : end] == b"\\":
            rest = BACKSLASHES.match(text, end)
            end = (rest.end() if rest else end) + 1
        yield text[begin:end]
        begin = end

"""Limits of a request's body, checked before anything else (contract 2, *Body size*).

The checks use fast `bytes` operations on blocks and stop at the first excess. Therefore a refused body costs
little time, and an ordinary body costs microseconds.
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
TOO_DEEP = f"The body is nested too deeply. The maximum is {MOST_NESTED} levels."
STRUCTURE = re.compile(rb":+|o+|[{}\[\]]")
"""The pattern of the tokens that count: runs of colons, runs of `o`, and brackets.

Each `o` replaces a flat object or a flat array.
"""
BACKSLASHES = re.compile(rb"\\*")
NO_STRUCTURE = bytes(set(range(256)) - set(b"{}[]:"))


def most_bytes(path: str) -> int:
    """Return the size limit of a path's body in bytes."""
    largest: int = settings.MAX_BODY_BYTES
    return min(largest, MOST_BYTES_OF_A_CREDENTIAL) if path.startswith("/oauth/") else largest


def refuse_long(path: str, length: str) -> None:
    """Refuse a body whose announced length exceeds the limit of its path. Raises TooLarge."""
    most = most_bytes(path)
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise TooLarge(f"The body has {length[:20]} bytes. The maximum for this path is {most}.")


def refuse_sprawling(text: bytes) -> None:
    """Refuse JSON that is nested too deeply or has an object with too many members. Raises TooLarge.

    Text that is not JSON may pass; the parser refuses it.
    """
    if text.count(b":") <= MOST_MEMBERS and text.count(b"{") + text.count(b"[") <= MOST_NESTED:
        return
    members: list[int] = []
    """The member count of each open object; arrays are not counted."""
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
    """Yield the tokens of a JSON text: brackets, runs of colons, and runs of flat objects and arrays."""
    inside = False
    for block in _blocks(text):
        parts = block.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[inside::2])
        inside ^= len(parts) % 2 == 0
        yield from STRUCTURE.findall(_flat(MOST_MEMBERS).sub(b"o", outside.translate(None, NO_STRUCTURE)))


@functools.cache
def _flat(most: int) -> re.Pattern[bytes]:
    """Return a pattern for objects and arrays without nesting, which make up most of a large body."""
    return re.compile(rb"\{:{0,%d}\}|\[\]" % most)


def _blocks(text: bytes) -> Iterator[bytes]:
    """Split a text into blocks that never begin inside an escape sequence."""
    begin = 0
    while begin < len(text):
        end = begin + BLOCK
        if text[end - 1 : end] == b"\\":
            rest = BACKSLASHES.match(text, end)
            end = (rest.end() if rest else end) + 1
        yield text[begin:end]
        begin = end

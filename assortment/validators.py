"""What a client holds of a pull: an ETag that says what it has seen, and a cursor that says how far it is.

The tag carries no digest of the answer, which would have to be read whole to know it, but the snapshot of
the database that it was made from, that one's epoch (`events.epochs`), and the question that it answers.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator

from rest_framework.request import Request

from api.errors import InvalidCursor
from assortment.pull import START, Position
from catalog.snapshot import Snapshot, StoredSnapshot

TAG = re.compile(r'"([0-9a-f]{16})\.([0-9a-z]+)\.([0-9:_]+)"')


def question_of(request: Request) -> str:
    """What is asked, by whom: a tag of another question says nothing about this one."""
    asked = sorted(request.query_params.dict().items())
    return hashlib.sha256(json.dumps([request.path, asked]).encode()).hexdigest()[:16]


def etag(request: Request, seen: StoredSnapshot) -> str:
    return f'W/"{question_of(request)}.{seen.epoch}.{str(seen.snapshot).replace(",", "_")}"'


def held_tags(request: Request, epoch: str) -> Iterator[tuple[str, Snapshot]]:
    """The tags in If-None-Match that answer this very question, with what their holder has seen.

    One of another epoch says nothing: what its holder has seen may have been lost since.
    """
    question = question_of(request)
    for match in TAG.finditer(request.headers.get("If-None-Match", "")):
        snapshot = Snapshot.parse(match[3].replace("_", ","))
        if match[1] == question and match[2] == epoch and snapshot is not None:
            yield f"W/{match[0]}", snapshot


def write_cursor(position: Position) -> str:
    raw = json.dumps(["groups", position.supplier_id, position.key]).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read_cursor(text: str) -> Position:
    """The position in a cursor; the start without one. Raises InvalidCursor."""
    if not text:
        return START
    try:
        kind, supplier_id, key = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidCursor("cursor: was not issued by this service.") from None
    sane = type(supplier_id) is int and 0 <= supplier_id < 2**63 and isinstance(key, str)
    if kind != "groups" or not sane or len(key) > 102 or not key.isprintable():
        raise InvalidCursor("cursor: belongs to another list.")
    return Position(supplier_id, key)

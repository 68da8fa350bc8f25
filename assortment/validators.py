"""The ETag and the cursor of a pull.

The tag has no digest of the answer, because a digest needs the whole answer. It has the database snapshot of
the answer, the snapshot's epoch (`events.epochs`), and a hash of the request.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator

from rest_framework.request import Request

from api.cursors import read_cursor, write_cursor
from api.errors import InvalidCursor
from assortment.pull import START, Position
from catalog.snapshot import Snapshot, StoredSnapshot

TAG = re.compile(r'"([0-9a-f]{16})\.([0-9a-z]+)\.([0-9:_]+)"')


def question_of(request: Request) -> str:
    """Return a hash of path and parameters. An ETag is valid only for requests with the same hash."""
    parameters = sorted(request.query_params.dict().items())
    return hashlib.sha256(json.dumps([request.path, parameters]).encode()).hexdigest()[:16]


def etag(request: Request, seen: StoredSnapshot) -> str:
    return f'W/"{question_of(request)}.{seen.epoch}.{str(seen.snapshot).replace(",", "_")}"'


def held_tags(request: Request, epoch: str) -> Iterator[tuple[str, Snapshot]]:
    """Yield the tags in If-None-Match that belong to this request and epoch, with their snapshots.

    A tag of another epoch has no meaning, because its data may have been lost since.
    """
    question = question_of(request)
    for match in TAG.finditer(request.headers.get("If-None-Match", "")):
        snapshot = Snapshot.parse(match[3].replace("_", ","))
        if match[1] == question and match[2] == epoch and snapshot is not None:
            yield f"W/{match[0]}", snapshot


def cursor_of(position: Position) -> str:
    return write_cursor("groups", position.supplier_id, position.key)


def position_in(text: str) -> Position:
    """Return the position in a cursor; START if there is no cursor. Raises InvalidCursor."""
    if not text:
        return START
    try:
        kind, supplier_id, key = read_cursor(text, parts=3)
    except ValueError:
        raise InvalidCursor("cursor: was not issued by this service.") from None
    sane = type(supplier_id) is int and 0 <= supplier_id < 2**63 and isinstance(key, str)
    if kind != "groups" or not sane or len(key) > 102 or not key.isprintable():
        raise InvalidCursor("cursor: belongs to another list.")
    return Position(supplier_id, key)

"""The ETag and the cursor of a pull.

The tag has no digest of the answer, because a digest needs the whole answer. It has the database snapshot of
the answer, the snapshot's epoch (`events.epochs`), and a hash of the request.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from rest_framework.request import Request

from api.cursors import read_cursor, write_cursor
from api.errors import InvalidCursor
from assortment.pull import START, Position
from catalog.snapshot import NOTHING, Snapshot, StoredSnapshot

ANSWER = r"(?P<epoch>[0-9a-z]+)\.(?P<snapshot>[0-9:_]+)"
"""The epoch and the snapshot of an answer."""
TAG = re.compile(rf'"([0-9a-f]{{16}})\.{ANSWER}"')
CURSOR_ANSWER = re.compile(
    r"(?P<epoch>[0-9a-z]+)\.(?P<snapshot>[0-9]+:[0-9]+:[0-9_]*)(?::(?P<began>[0-9]{1,17}))?"
)
"""The epoch and the snapshot of a page, and the time at which its pull began, in microseconds since 1970.

Cursors of version 1.0.0 have no time.
"""
YEAR_1970, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
NEVER_STORED = re.compile("[\x00\ud800-\udfff]")
"""Characters that PostgreSQL cannot store in a text, so no key of a group contains them."""


def question_of(request: Request) -> str:
    """Return a hash of path and parameters. An ETag is valid only for requests with the same hash."""
    parameters = sorted(request.query_params.dict().items())
    return hashlib.sha256(json.dumps([request.path, parameters]).encode()).hexdigest()[:16]


def etag(request: Request, seen: StoredSnapshot) -> str:
    return f'W/"{question_of(request)}.{_answer(seen)}"'


def _answer(seen: StoredSnapshot) -> str:
    return f"{seen.epoch}.{str(seen.snapshot).replace(',', '_')}"


def older_than_held(request: Request, seen: StoredSnapshot, moment: datetime | None) -> bool:
    """Return whether this snapshot lacks a transaction that was in an answer to the client.

    The tag, the cursor and `updated_since` of a request name the client's last answers. Return True also for
    an answer of another epoch, because snapshots of two epochs cannot be compared.
    """
    if moment is not None and moment > seen.at:
        return True
    cursor = _cursor_parts(request.query_params.get("cursor", ""))
    answers = [
        *TAG.finditer(request.headers.get("If-None-Match", "")),
        *map(CURSOR_ANSWER.fullmatch, cursor[3:]),
    ]
    for answer in filter(None, answers):
        snapshot = Snapshot.parse(answer["snapshot"].replace("_", ","))
        if answer["epoch"] != seen.epoch or snapshot is None or not seen.snapshot.covers(snapshot):
            return True
    return False


def held_tags(request: Request, epoch: str) -> Iterator[tuple[str, Snapshot]]:
    """Yield the tags in If-None-Match that belong to this request and epoch, with their snapshots.

    A tag of another epoch is left out, because a restored database may lack changes that the client has seen.
    """
    question = question_of(request)
    for match in TAG.finditer(request.headers.get("If-None-Match", "")):
        snapshot = Snapshot.parse(match[3].replace("_", ","))
        if match[1] == question and match[2] == epoch and snapshot is not None:
            yield f"W/{match[0]}", snapshot


def cursor_of(position: Position, seen: StoredSnapshot, began: datetime) -> str:
    """Return the cursor after a position. It names the snapshot of the page, and when the pull began.

    Only standbys compare the snapshot. Without standbys, leave it out: it may be too long for a URL.
    """
    answer = _answer(seen if settings.STANDBYS else seen._replace(snapshot=NOTHING))
    answer += f":{(began - YEAR_1970) // MICROSECOND}"
    return write_cursor("groups", position.supplier_id, position.key, answer)


def began_at(request: Request, seen: StoredSnapshot) -> datetime:
    """Return the time at which the pull of this page began.

    All pages of a pull name this time. A later time would hide changes of groups on earlier pages.
    """
    for answer in _cursor_parts(request.query_params.get("cursor", ""))[3:]:
        match = CURSOR_ANSWER.fullmatch(answer)
        if match and match["began"]:
            return YEAR_1970 + int(match["began"]) * MICROSECOND
    return seen.at


def position_in(text: str) -> Position:
    """Return the position in a cursor; START if there is no cursor. Raises InvalidCursor."""
    if not text:
        return START
    kind, supplier_id, key, *answer = _cursor_parts(text)
    sane = type(supplier_id) is int and 0 <= supplier_id < 2**63 and isinstance(key, str)
    sane = sane and all(isinstance(each, str) and CURSOR_ANSWER.fullmatch(each) for each in answer)
    if kind != "groups" or not sane or len(key) > 102 or NEVER_STORED.search(key):
        raise InvalidCursor("cursor: belongs to another list.")
    return Position(supplier_id, key)


def _cursor_parts(text: str) -> list[Any]:
    """Return the parts of a cursor, or an empty list if there is no cursor. Raises InvalidCursor."""
    if not text:
        return []
    for parts in (3, 4):
        with suppress(ValueError):
            return read_cursor(text, parts=parts)
    raise InvalidCursor("cursor: was not issued by this service.")

"""The encoding of cursors: a JSON list in URL-safe base64 without padding.

Clients hold cursors across upgrades, so the format must not change.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

from api.ids import LARGEST_ID


def write_cursor(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def read_cursor(text: str, *, parts: int) -> list[Any]:
    """Return the elements of a cursor. Raises ValueError if there are not exactly `parts` elements."""
    try:
        values = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(values, list) or len(values) != parts:
        raise ValueError(f"not a list of {parts}")
    return values


def id_in_cursor(value: object) -> int:
    """Return an id. Raises ValueError for anything else, such as the Infinity that JSON may contain."""
    if type(value) is not int or not 0 <= value <= LARGEST_ID:
        raise ValueError(f"no id: {value!r}")
    return value


def moment_in_cursor(value: object) -> datetime:
    """Return a moment with its time zone. Raises ValueError for anything else."""
    moment = datetime.fromisoformat(str(value))
    if moment.tzinfo is None:
        raise ValueError(f"no time zone: {value!r}")
    return moment

"""The codec of cursors: a JSON list in URL-safe base64 without padding.

Clients hold cursors across upgrades, so the format must not change.
"""

from __future__ import annotations

import base64
import json
from typing import Any


def write_cursor(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def read_cursor(text: str, *, parts: int) -> list[Any]:
    """Return the parts of a cursor. Raises ValueError for a text that `write_cursor` did not return."""
    try:
        values = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(values, list) or len(values) != parts:
        raise ValueError(f"not a list of {parts}")
    return values

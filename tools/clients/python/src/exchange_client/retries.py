"""The rules for sending a request again, and the wait before each attempt."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

RETRIED = {429, 500, 502, 503, 504}
LONGEST_WAIT = 60.0


def may_succeed_later(response: httpx.Response) -> bool:
    """Return whether the same request may succeed later: rate limit, busy, or still running."""
    if response.status_code != 409:
        return response.status_code in RETRIED
    try:
        said = response.json()
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("code") == "in_progress"


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds in `Retry-After` (a number or a date), or None if it is missing or unreadable."""
    said = response.headers.get("Retry-After", "").strip()
    if said.isdecimal():
        return float(said)
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def backoff(attempt: int) -> float:
    """Return the seconds before the next attempt: more after each attempt, and different for each client."""
    return random.uniform(0.5, 1.0) * min(0.5 * 2.0**attempt, LONGEST_WAIT)  # noqa: S311 - no secret

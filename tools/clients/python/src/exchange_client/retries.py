"""When a request is sent again, and how long before."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

RETRIED = {429, 500, 502, 503, 504}
LONGEST_WAIT = 60.0


def may_succeed_later(response: httpx.Response) -> bool:
    """Whether the same request may: too many, busy, or its twin is still at work."""
    if response.status_code != 409:
        return response.status_code in RETRIED
    try:
        said = response.json()
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("code") == "in_progress"


def retry_after(response: httpx.Response) -> float | None:
    """The seconds that the service wants to be left alone, from a number or a date; None without one."""
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
    """Seconds before the next try: growing, and spread so that clients do not come back all at once."""
    return random.uniform(0.5, 1.0) * min(0.5 * 2.0**attempt, LONGEST_WAIT)  # noqa: S311 - no secret

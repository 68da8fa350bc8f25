"""What is counted of a supplier, and the durations that times are sorted into."""

from __future__ import annotations

from typing import Final

CREATED = "created"
TO_CAPTURE, TO_ACCEPT, TO_SHIP = "to_capture", "to_accept", "to_ship"
OUT_OF_STOCK, MISSING_SKU, WRONG_ADDRESS = "out_of_stock", "missing_sku", "wrong_address"
ASKED_BACK, LET_GO, KEPT, UNANSWERED = "asked_back", "let_go", "kept", "unanswered"
FEEDS = "feeds"

TIMES: Final = (TO_CAPTURE, TO_ACCEPT, TO_SHIP)
REFUSALS: Final = (OUT_OF_STOCK, MISSING_SKU, WRONG_ADDRESS)

# Hours below which a duration falls into a bucket; what takes longer than the last is in one more.
BOUNDS: Final = (1, 2, 4, 8, 12, 24, 48, 72, 168, 336)


def bucket_names() -> list[str]:
    """Each bucket in words."""
    names = [_hours(bound) for bound in BOUNDS]
    return [f"< {name}" for name in names] + [f"≥ {names[-1]}"]


def _hours(hours: int) -> str:
    return f"{hours // 24} d" if hours >= 48 else f"{hours} h"

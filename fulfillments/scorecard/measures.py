"""The measures of a supplier, and the bounds of the buckets for durations."""

from __future__ import annotations

from typing import Final

CREATED = "created"
TO_CAPTURE, TO_ACCEPT, TO_SHIP = "to_capture", "to_accept", "to_ship"
OUT_OF_STOCK, MISSING_SKU, WRONG_ADDRESS = "out_of_stock", "missing_sku", "wrong_address"
REJECTED = "rejected"  # fulfillments with units rejected for any reason in `REFUSALS`
REQUESTED, APPROVED, REFUSED, UNANSWERED = "asked_back", "let_go", "kept", "unanswered"
DOUBTFUL_TRACKING = "doubtful_tracking"  # parcels whose tracking number has a wrong check digit

FEEDS = "feeds"  # pushes and files that changed the stock

TIMES: Final = (TO_CAPTURE, TO_ACCEPT, TO_SHIP)
REFUSALS: Final = (OUT_OF_STOCK, MISSING_SKU, WRONG_ADDRESS)

# The upper bounds of the buckets, in hours. One more bucket has the longer durations.
BOUNDS: Final = (1, 2, 4, 8, 12, 24, 48, 72, 168, 336)


def bucket_names() -> list[str]:
    names = [_hours(bound) for bound in BOUNDS]
    return [f"< {name}" for name in names] + [f"≥ {names[-1]}"]


def _hours(hours: int) -> str:
    return f"{hours // 24} d" if hours >= 48 else f"{hours} h"

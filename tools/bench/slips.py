"""500 packing slips in one document: seconds and memory, in a process of its own as in the service."""

from __future__ import annotations

import resource
import sys
import time

from fulfillments.slips import documents
from fulfillments.slips.contents import Slip, SlipBatch, SlipDesign, SlipLine
from tools.bench.sizes import size

SLIPS, LINES = 500, 3
MOST_SECONDS, MOST_MEGABYTES = 5, 200
NAMES = (
    "Ada Byron",
    "Γιώργος Παππάς",
    "Наталья Иванова",
    "محمد علي",
    "דוד כהן",
    "王小明",
    "山田すずき",
    "김철수",
)


def main(options: list[str]) -> None:
    count = size(SLIPS, smoke=12)
    batch = SlipBatch(
        [SlipDesign("Shop", "Thank you.", "Dock 4", "en", "a4", True)], [*map(_slip, range(count))]
    )
    began = time.perf_counter()
    document = documents.make_document(batch)
    seconds = time.perf_counter() - began
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"  {count} slips: {seconds:.2f} s, {megabytes:.0f} MB, {len(document.pdf):,} bytes")
    if count == SLIPS and (seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES):
        sys.exit(f"The goal is {MOST_SECONDS} s and {MOST_MEGABYTES} MB.")


def _slip(number: int) -> Slip:
    lines = [
        SlipLine(f"SKU-{each}", "036000291452", "A lamp for reading " * 4, 2, "12.50")
        for each in range(LINES)
    ]
    return Slip(
        design=0,
        fulfillment_id=number,
        placed_at="2026-01-31T12:00:00Z",
        order_number=f"PO-{number}",
        sales_number="",
        ordered_on="2026-01-31",
        ship_to=[NAMES[number % len(NAMES)], "1 Sample Street", "London"],
        shipping_method="GROUND",
        tracking_number="",
        carrier="",
        gift_message="",
        lines=lines,
        total="37.50",
        currency="USD",
    )

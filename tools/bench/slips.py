"""The time and the memory for a document of 500 packing slips, made in its own process as in the service."""

from __future__ import annotations

import resource
import time

from fulfillments.slips import documents
from fulfillments.slips.contents import Slip, SlipBatch, SlipDesign, SlipLine
from tools.bench.measuring import at_most, show
from tools.bench.sizes import size

SLIPS, LINES = size(500, smoke=12), 3
NAMES = (
    *("Ada Byron", "Γιώργος Παππάς", "Наталья Иванова", "محمد علي"),
    *("דוד כהן", "王小明", "山田すずき", "김철수"),
)


def main(options: list[str]) -> None:
    design = SlipDesign("Shop", "Thank you.", "Dock 4", "en", "a4", True)
    batch = SlipBatch([design], [*map(_slip, range(SLIPS))])
    began = time.perf_counter()
    document = documents.make_document(batch)
    at_most(f"seconds for {SLIPS} slips", time.perf_counter() - began, 5)
    at_most("MB of memory", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, 200)
    show("bytes of the document", len(document.pdf), digits=0)


def _slip(number: int) -> Slip:
    line = SlipLine("SKU-1", "036000291452", "A lamp for reading " * 4, 2, "12.50")
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
        lines=[line] * LINES,
        total="37.50",
        currency="USD",
    )

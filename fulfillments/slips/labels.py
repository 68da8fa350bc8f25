"""The drawing of carton labels. Each label is a page of 4 by 6 inches, with the SSCC as a GS1-128 barcode."""

from __future__ import annotations

from collections.abc import Sequence

from api.renderers import iso
from fulfillments.models import Carton, Fulfillment
from fulfillments.slips.barcodes import gs1_128
from fulfillments.slips.contents import SlipDocument
from fulfillments.slips.selectors import address_lines
from fulfillments.slips.sheets import Sheets

WIDTH, HEIGHT = 101.6, 152.4
MARGIN = 6.0
INNER = WIDTH - 2 * MARGIN
MODULE = 0.495  # the smallest module that GS1 allows on a carton's label, in millimeters
BAR_HEIGHT = 34.0
SMALL, NORMAL, LARGE = 8.0, 11.0, 15.0
MOST_LINES = 9


def draw_labels(fulfillment: Fulfillment, cartons: Sequence[Carton], of: int) -> SlipDocument:
    """Draw the labels of these cartons. `of` is the total number of cartons, as in "carton 1 of 3"."""
    order = fulfillment.order
    ship_from = [fulfillment.supplier.name, fulfillment.warehouse.name]
    ship_to = address_lines(order.shipping_address)[:MOST_LINES]
    texts = [*ship_from, *ship_to, order.retailer_order_id]
    sheets = Sheets(texts, made_at=iso(fulfillment.created_at), paper=(WIDTH, HEIGHT))
    for carton in cartons:
        sheets.add_page()
        y = _part(sheets, MARGIN, "Ship from", ship_from, NORMAL)
        y = _part(sheets, y, "Ship to", ship_to, LARGE)
        y = _part(sheets, y, "Order", [order.retailer_order_id], NORMAL)
        _part(sheets, y, "Carton", [f"{carton.number} of {of}"], NORMAL)
        _sscc(sheets, carton.sscc)
    return SlipDocument(sheets.finished(), sheets.missing_characters)


def _part(sheets: Sheets, y: float, label: str, lines: list[str], size: float) -> float:
    sheets.use(SMALL, gray=110)
    y = sheets.block(MARGIN, y, INNER, [label])
    sheets.use(size)
    y = sheets.block(MARGIN, y, INNER, lines) + 1
    sheets.rule(MARGIN, y, INNER, gray=0)
    return y + 2


def _sscc(sheets: Sheets, sscc: str) -> None:
    barcode = gs1_128(f"[00]{sscc}")
    y = HEIGHT - MARGIN - BAR_HEIGHT
    sheets.use(NORMAL, bold=True)
    sheets.line(MARGIN, y - sheets.line_height - 1, INNER, f"(00) {sscc}", "C")
    barcode.draw(sheets, (WIDTH - barcode.modules * MODULE) / 2, y, MODULE, BAR_HEIGHT)

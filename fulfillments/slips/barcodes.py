"""Linear barcodes, drawn as vectors, so they are sharp at every printer resolution."""

from __future__ import annotations

from typing import NamedTuple

import zint
from fpdf import FPDF

QUIET_MODULES = 10


class LinearBarcode(NamedTuple):
    """A barcode: its bars as (begin, width), and its width with the quiet zones.

    The unit is the module, the width of the thinnest bar.
    """

    bars: list[tuple[float, float]]
    modules: float

    def draw(self, pdf: FPDF, x: float, y: float, module: float, height: float) -> None:
        """Draw the bars, with blank quiet zones at both sides. `module` is the width of a module in mm."""
        pdf.set_fill_color(0)
        for begin, width in self.bars:
            pdf.rect(x + (QUIET_MODULES + begin) * module, y, width * module, height, style="F")


def code128(text: str) -> LinearBarcode | None:
    """Return the Code 128 of a text, or None if it has characters that Code 128 cannot show."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return None
    return _bars(zint.Symbology.CODE128, text) if text.isprintable() else None


def gs1_128(elements: str) -> LinearBarcode:
    """Return the GS1-128 of element strings such as `[00]340123450000000018`."""
    barcode = _bars(zint.Symbology.GS1_128, elements)
    assert barcode is not None  # the digits of an element string can always be encoded
    return barcode


def _bars(symbology: zint.Symbology, text: str) -> LinearBarcode | None:
    symbol = zint.Symbol()
    symbol.symbology, symbol.show_text = symbology, False
    symbol.encode(text)
    symbol.buffer_vector()
    scale = 2 * symbol.scale  # zint draws a module two units wide
    bars = [(each.x / scale, each.width / scale) for each in symbol.vector.rectangles]
    return LinearBarcode(bars, symbol.vector.width / scale + 2 * QUIET_MODULES)

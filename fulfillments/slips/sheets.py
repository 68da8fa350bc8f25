"""A PDF file with the embedded fonts. It can show text of any script, wrapped to a width."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

from fpdf import FPDF
from fpdf.enums import MethodReturnValue, WrapMode

from fulfillments.slips.fonts import (
    BOLD,
    BOX,
    REGULAR,
    breaks_anywhere,
    is_right_to_left,
    needed_fonts,
    needs_shaping,
)

FAMILY = "slip"
SOFT_HYPHEN = "\u00ad"
PRODUCER = "Exchange"
MM_PER_POINT = 25.4 / 72
LINE = 1.35
"""The height of a line of text, as a multiple of the font size."""

# fontTools logs the letters of each text at the level INFO, but the texts may have personal data.
logging.getLogger("fontTools").setLevel(logging.WARNING)


class Sheets(FPDF):
    """A PDF file that embeds only the fonts that its texts need."""

    def __init__(self, texts: Iterable[str], *, made_at: str, paper: str | tuple[float, float]) -> None:
        super().__init__(unit="mm", format=paper)
        self.set_auto_page_break(False)
        self.alias_nb_pages(None)  # type: ignore[arg-type]  # None: no alias
        self.set_producer(PRODUCER)
        self.set_creation_date(datetime.fromisoformat(made_at))
        self.c_margin = 0
        self.add_font(FAMILY, "", REGULAR)
        self.add_font(FAMILY, "B", BOLD)
        others, missing = needed_fonts(texts)
        self.missing_characters = missing.total()
        self._boxes = str.maketrans(dict.fromkeys(missing, BOX))
        for name, path in others.items():
            self.add_font(name, "", path)
        self.set_fallback_fonts([*others], exact_match=False)
        self.set_font(FAMILY, size=9)

    def use(self, size: float, *, bold: bool = False, gray: int = 0) -> None:
        """Choose the font and the color of the next texts."""
        self.set_font(FAMILY, "B" if bold else "", size)
        self.set_text_color(gray)

    @property
    def line_height(self) -> float:
        return float(self.font_size_pt) * MM_PER_POINT * LINE

    def wrapped(self, text: str, width: float) -> list[str]:
        """Split a text into lines of at most this width."""
        paragraphs = text.translate(self._boxes).splitlines()
        return [line for paragraph in paragraphs for line in self._wrapped(paragraph, width)]

    def _wrapped(self, text: str, width: float) -> list[str]:
        self._shape(text)
        if self.get_string_width(text) <= width:
            return [text]
        mode = WrapMode.CHAR if breaks_anywhere(text) else WrapMode.WORD
        if mode is WrapMode.CHAR:  # in this mode, fpdf2 fails at soft hyphens
            text = text.replace(SOFT_HYPHEN, "")
        lines = self.multi_cell(
            width, text=text, dry_run=True, output=MethodReturnValue.LINES, wrapmode=mode, align="L"
        )
        return [str(line) for line in lines]  # type: ignore[union-attr]

    def line(self, x: float, y: float, width: float, text: str, align: str = "") -> None:  # type: ignore[override]
        """Write one line. By default, Arabic and Hebrew are aligned right, and other scripts left."""
        self._shape(text)
        self.set_xy(x, y)
        # After a line with several fonts, fpdf2 would write the next line in the wrong font. Reset the font.
        self.current_font_is_set_on_page = False
        self.cell(width, self.line_height, text, align=align or ("R" if is_right_to_left(text) else "L"))

    def block(self, x: float, y: float, width: float, texts: Iterable[str], align: str = "") -> float:
        """Write wrapped texts below each other. Return the position below the last text."""
        for text in texts:
            for line in self.wrapped(text, width):
                self.line(x, y, width, line, align or ("R" if is_right_to_left(text) else "L"))
                y += self.line_height
        return y

    def rule(self, x: float, y: float, width: float, gray: int = 200) -> None:
        """Draw a thin horizontal line."""
        self.set_fill_color(gray)
        self.rect(x, y, width, 0.2, style="F")

    def finished(self) -> bytes:
        return bytes(self.output())

    def _shape(self, text: str) -> None:
        # Text with shaping takes five times as long, so shaping is off for scripts that do not need it.
        self.set_text_shaping(needs_shaping(text))

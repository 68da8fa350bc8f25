"""The drawing of packing slips. All lengths are in millimeters, except font sizes (in points).

The rows of a slip are distributed over pages before the drawing, because each page shows the number of pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from PIL import Image

from fulfillments.slips.barcodes import LinearBarcode, code128
from fulfillments.slips.contents import Slip, SlipBatch, SlipDesign, SlipDocument, SlipLine
from fulfillments.slips.sheets import Sheets
from fulfillments.slips.words import WORDS, SlipWords

PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
MARGIN, GAP = 15.0, 6.0
LOGO = (60.0, 22.0)
RIGHT = 80.0  # the width of the column with title and barcode
BAR_HEIGHT, THICKEST_BAR = 12.0, 0.33
SMALL, NORMAL, LARGE, TITLE = 7.5, 9.0, 12.0, 18.0
GRAY = 110
SKU, QUANTITY, AMOUNT = 38.0, 16.0, 28.0
# The column of facts takes the fraction FACTS of the width between the margins. The labels of the facts take
# the fraction LABEL of this column.
FACTS, LABEL = 0.39, 0.36
PADDING = 1.2
FOOT = 6.0  # the height of the line with the page's number


class Row(NamedTuple):
    """A row of the table, with its texts split into lines."""

    sku: list[str]
    item: list[str]
    notes: list[str]
    quantity: str
    amount: str
    height: float


def draw(batch: SlipBatch) -> SlipDocument:
    """Draw all slips of a `SlipBatch` into one document."""
    sheets = Sheets(_texts(batch), made_at=batch.made_at, paper="a4")
    designs = [_Design(sheets, design) for design in batch.designs]
    for slip in batch.slips:
        _SlipPages(sheets, designs[slip.design], slip).draw()
    return SlipDocument(sheets.finished(), sheets.missing_characters)


def _texts(batch: SlipBatch) -> Iterator[str]:
    """Yield all texts of these slips, without the fixed words in `WORDS`."""
    for design in batch.designs:
        yield from (design.header, design.footer, design.return_address, design.supplier)
    for slip in batch.slips:
        yield from (slip.order_number, slip.sales_number, slip.shipping_method, slip.gift_message)
        yield from (slip.tracking_number, slip.carrier, *slip.ship_to)
        for line in slip.lines:
            yield from (line.sku, line.upc, line.title)


class _Design:
    """A design with its sizes and its logo, measured once for all its slips."""

    def __init__(self, sheets: Sheets, design: SlipDesign) -> None:
        self.design = design
        self.words: SlipWords = WORDS[design.language]
        self.width, self.height = PAPERS[design.paper]
        self.inner = self.width - 2 * MARGIN
        self.logo, self.logo_size = None, (0.0, 0.0)
        if design.logo:
            self.logo = Image.open(BytesIO(design.logo))
            scale = min(LOGO[0] / self.logo.width, LOGO[1] / self.logo.height)
            self.logo_size = (self.logo.width * scale, self.logo.height * scale)
        self.footer: list[str] = []
        self.bottom = 0.0

    def measure_footer(self, sheets: Sheets) -> None:
        """Split the footer into lines. fpdf2 cannot split a text before the document has a page."""
        if not self.bottom:
            sheets.use(SMALL)
            self.footer = sheets.wrapped(self.design.footer, self.inner)
            self.bottom = self.height - MARGIN - FOOT - len(self.footer) * sheets.line_height

    @property
    def item_width(self) -> float:
        return self.inner - SKU - QUANTITY - (AMOUNT if self.design.show_prices else 0) - 2 * GAP


class _SlipPages:
    def __init__(self, sheets: Sheets, design: _Design, slip: Slip) -> None:
        self.sheets, self.design, self.slip = sheets, design, slip
        self.words = design.words
        self.prices = bool(slip.total)

    def draw(self) -> None:
        self._add_page()
        self.design.measure_footer(self.sheets)
        y = self._addresses(self._head())
        y = self._gift(y)
        pages = self._paged([self._row(line) for line in self.slip.lines], y)
        for number, rows in enumerate(pages, 1):
            if number > 1:
                self._add_page()
                y = self._short_head()
            y = self._table(rows, y, last=number == len(pages))
            self._foot(number, len(pages))

    def _add_page(self) -> None:
        self.sheets.add_page(format=(self.design.width, self.design.height))

    # --- The head: logo and header at the left, title and barcode at the right --------------------

    def _head(self) -> float:
        sheets, design = self.sheets, self.design
        y, left = MARGIN, design.inner - RIGHT - GAP
        if design.logo is not None:
            sheets.image(design.logo, MARGIN, y, *design.logo_size)
            y += design.logo_size[1] + 3
        first, *others = design.design.header.splitlines() or [""]
        sheets.use(LARGE, bold=True)
        y = sheets.block(MARGIN, y, left, [first])
        sheets.use(NORMAL)
        return max(sheets.block(MARGIN, y, left, others), self._title()) + GAP

    def _title(self) -> float:
        """Draw the title and the barcode of the order number. Return the position below them."""
        sheets, x = self.sheets, MARGIN + self.design.inner - RIGHT
        sheets.use(TITLE, bold=True)
        y = sheets.block(x, MARGIN - 2, RIGHT, [self.words.packing_slip], "R") + 2
        barcode = code128(self.slip.order_number)
        sheets.use(NORMAL)
        if barcode is not None:
            y = self._barcode(barcode, x, y)
        return sheets.block(x, y, RIGHT, [self.slip.order_number], "R")

    def _barcode(self, barcode: LinearBarcode, x: float, y: float) -> float:
        module = min(THICKEST_BAR, RIGHT / barcode.modules)
        if module < THICKEST_BAR / 2:  # scanners cannot read such thin bars: use the whole width
            module, x = min(THICKEST_BAR, self.design.inner / barcode.modules), MARGIN
            y += LOGO[1] + 3 if self.design.logo is not None else 5 * self.sheets.line_height
        begin = x + (RIGHT if x > MARGIN else self.design.inner) - barcode.modules * module
        # The quiet zone may reach into the margin of the page.
        barcode.draw(self.sheets, begin + 10 * module, y, module, BAR_HEIGHT)
        return y + BAR_HEIGHT + 1

    # --- Addresses and facts ---------------------------------------------------------------------

    def _addresses(self, y: float) -> float:
        words, design = self.words, self.design.design
        facts = FACTS * self.design.inner
        width = (self.design.inner - facts - 2 * GAP) / 2
        self.sheets.rule(MARGIN, y - GAP / 2, self.design.inner)
        bottom = self._address(MARGIN, y, width, words.ship_to, self.slip.ship_to, NORMAL + 1)
        x = MARGIN + width + GAP
        middle = y
        if design.return_address:
            returns_to = design.return_address.splitlines()
            middle = self._address(x, middle, width, words.returns_to, returns_to, NORMAL) + 2
        if design.supplier:
            middle = self._address(x, middle, width, words.shipped_by, [design.supplier], NORMAL)
        return max(bottom, middle, self._facts(x + width + GAP, y, facts)) + GAP

    def _address(self, x: float, y: float, width: float, label: str, lines: list[str], size: float) -> float:
        self.sheets.use(SMALL, gray=GRAY)
        y = self.sheets.block(x, y, width, [label])
        self.sheets.use(size)
        return self.sheets.block(x, y, width, lines)

    def _facts(self, x: float, y: float, width: float) -> float:
        slip, words = self.slip, self.words
        facts = [
            (words.order, slip.order_number),
            (words.sales_order, slip.sales_number),
            (words.ordered_on, slip.ordered_on),
            (words.shipping, slip.shipping_method),
            (words.parcel, "\n".join(filter(None, (slip.carrier, slip.tracking_number)))),
            (words.fulfillment, str(slip.fulfillment_id)),
        ]
        for label, value in facts:
            if value:
                self.sheets.use(SMALL, gray=GRAY)
                labeled = self.sheets.block(x, y + 0.3, LABEL * width - 1, [label])
                self.sheets.use(NORMAL)
                y = max(labeled, self.sheets.block(x + LABEL * width, y, (1 - LABEL) * width, [value]))
        return y

    def _gift(self, y: float) -> float:
        if not self.slip.gift_message:
            return y
        sheets, inner = self.sheets, self.design.inner - 8
        sheets.use(NORMAL + 1)
        height = len(sheets.wrapped(self.slip.gift_message, inner)) * sheets.line_height + 9
        room = self.design.bottom - y - 30
        sheets.set_draw_color(180)
        sheets.rect(MARGIN, y, self.design.inner, min(height, room), round_corners=True, corner_radius=2)
        sheets.use(SMALL, gray=GRAY)
        sheets.line(MARGIN + 4, y + 2, inner, self.words.gift_message)
        sheets.use(NORMAL + 1)
        shown = sheets.wrapped(self.slip.gift_message, inner)[: int((room - 9) / sheets.line_height)]
        sheets.block(MARGIN + 4, y + 6, inner, shown)
        return y + min(height, room) + GAP

    # --- The table -------------------------------------------------------------------------------

    def _row(self, line: SlipLine) -> Row:
        sheets = self.sheets
        sheets.use(SMALL)
        notes, small = ([f"UPC {line.upc}"] if line.upc else []), sheets.line_height
        sheets.use(NORMAL)
        sku, item = sheets.wrapped(line.sku, SKU), sheets.wrapped(line.title, self.design.item_width)
        height = max(len(sku) * sheets.line_height, len(item) * sheets.line_height + len(notes) * small)
        return Row(sku, item, notes, str(line.quantity), line.amount, height + 2 * PADDING)

    def _paged(self, rows: list[Row], y: float) -> list[list[Row]]:
        """Distribute the rows over pages. The table begins at `y` on the first page."""
        self.sheets.use(NORMAL)
        head = self.sheets.line_height + 2 * PADDING
        top = MARGIN + self.sheets.line_height + GAP
        # Leave room for the heading of the table, and for the row with the total, which has the same height.
        pages, room = [list[Row]()], self.design.bottom - y - head - head
        for row in rows:
            if row.height > room and (pages[-1] or len(pages) == 1):
                pages.append([])
                room = self.design.bottom - top - 2 * head
            pages[-1].append(row)
            room -= row.height
        return pages

    def _table(self, rows: list[Row], y: float, *, last: bool) -> float:
        words, sheets = self.words, self.sheets
        height = sheets.line_height + 2 * PADDING
        sheets.set_fill_color(238)
        sheets.rect(MARGIN, y, self.design.inner, height, style="F")
        sheets.use(SMALL, bold=True)
        self._cells(y, [words.sku], [words.item], words.quantity, self._amount_heading)
        y += height
        for row in rows:
            sheets.use(NORMAL)
            self._cells(y, row.sku, row.item, row.quantity, row.amount)
            below = y + PADDING + len(row.item) * sheets.line_height
            sheets.use(SMALL, gray=GRAY)
            sheets.block(self._item_x, below, self.design.item_width, row.notes)
            y += row.height
            sheets.rule(MARGIN, y, self.design.inner)
        if last:
            sheets.use(NORMAL, bold=True)
            units = str(sum(line.quantity for line in self.slip.lines))
            self._cells(y, [words.total], [], units, self.slip.total)
        return y

    @property
    def _amount_heading(self) -> str:
        return f"{self.words.amount} ({self.slip.currency})" if self.prices else ""

    @property
    def _item_x(self) -> float:
        return MARGIN + SKU + GAP

    def _cells(self, y: float, sku: list[str], item: list[str], quantity: str, amount: str) -> None:
        """Write the cells of one row in the current font."""
        sheets, design = self.sheets, self.design
        y += PADDING
        sheets.block(MARGIN + 1, y, SKU, sku)
        sheets.block(self._item_x, y, design.item_width, item)
        right = MARGIN + design.inner - 1
        if self.prices:
            sheets.line(right - AMOUNT, y, AMOUNT, amount, "R")
        sheets.line(right - QUANTITY - (AMOUNT if self.prices else 0), y, QUANTITY, quantity, "R")

    # --- Further pages ---------------------------------------------------------------------------

    def _short_head(self) -> float:
        self.sheets.use(NORMAL, bold=True)
        text = f"{self.words.packing_slip} – {self.words.order} {self.slip.order_number}"
        self.sheets.line(MARGIN, MARGIN, self.design.inner, text)
        return MARGIN + self.sheets.line_height + GAP

    def _foot(self, number: int, pages: int) -> None:
        sheets, design = self.sheets, self.design
        sheets.use(SMALL, gray=GRAY)
        y = design.bottom + 2
        for line in design.footer:
            sheets.line(MARGIN, y, design.inner, line, "C")
            y += sheets.line_height
        text = self.words.page.format(n=number, m=pages)
        sheets.line(MARGIN, design.height - MARGIN, design.inner, text, "R")

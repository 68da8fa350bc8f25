"""The contents of slips as plain data, so that another process can draw them (ADR 111)."""

from __future__ import annotations

from msgspec import Struct, structs


class SlipDesign(Struct, frozen=True):
    """The design of a retailer's slips, from its slip template."""

    header: str
    footer: str
    return_address: str
    language: str
    paper: str
    show_prices: bool
    supplier: str = ""
    """The supplier's name, if the slip shows it."""
    logo: bytes = b""


class SlipLine(Struct, frozen=True):
    """The units of one fulfillment line on the slip."""

    sku: str
    upc: str
    title: str
    quantity: int
    amount: str = ""


class Slip(Struct, frozen=True):
    """The slip of a fulfillment or of one of its parcels."""

    design: int
    """The index of the slip's design in its `SlipBatch`."""
    fulfillment_id: int
    placed_at: str
    order_number: str
    sales_number: str
    ordered_on: str
    ship_to: list[str]
    shipping_method: str
    tracking_number: str
    carrier: str
    gift_message: str
    lines: list[SlipLine]
    total: str = ""
    currency: str = ""


class SlipBatch(Struct, frozen=True):
    """The slips of one document, in order, with their designs. Several slips can share a design."""

    designs: list[SlipDesign]
    slips: list[Slip]

    @property
    def made_at(self) -> str:
        """The document's date. It depends on the data alone, so the same data gives the same bytes."""
        return max(slip.placed_at for slip in self.slips)

    def only(self, slip: Slip) -> SlipBatch:
        """Return a `SlipBatch` with only this slip and its design."""
        return SlipBatch([self.designs[slip.design]], [structs.replace(slip, design=0)])

    @property
    def line_count(self) -> int:
        return sum(len(slip.lines) for slip in self.slips)


class SlipDocument(Struct, frozen=True):
    """A finished PDF file."""

    pdf: bytes
    missing_characters: int

"""The table of lines on an order's page, split into pages. Each row shows progress, suppliers and prices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.core.paginator import Page, Paginator

from accounts.models import Supplier
from catalog.models import Variant
from fulfillments.models import Fulfillment, FulfillmentLine
from orders.models import OrderLine

LINES_PER_PAGE = 50
Offer = tuple[Supplier, Decimal | None, str]


@dataclass(frozen=True)
class LineRow:
    """An order line with the lines of its fulfillments."""

    line: OrderLine
    routed: list[FulfillmentLine]
    offers: list[Offer]
    """The suppliers with their agreed prices and currencies, without repetitions."""

    @property
    def variant_id(self) -> int | None:
        """The id of the pushed variant, or else of the variant of the first fulfillment line."""
        return self.line.asked_variant_id or next((each.variant_id for each in self.routed), None)

    @property
    def units(self) -> Iterator[tuple[int, str, bool]]:
        """The units of the line by state, without states that have no units.

        Each element has the number of units, the state in words, and whether the state needs attention.
        """
        line = self.line
        states = (
            (line.reserved, "reserved", False),
            (line.open - line.reserved, "at suppliers without stock", True),
            (line.waiting, "waiting for stock", True),
            (line.rejected, "refused by all suppliers", True),
            (line.canceled, "canceled", False),
            (line.returned, "returned", False),
        )
        return (state for state in states if state[0])


@dataclass(frozen=True)
class LineTable:
    """One page of rows. Each `has_…` field tells whether a line of the order has a value for this column."""

    rows: list[LineRow]
    page: Page[OrderLine]
    has_suppliers: bool
    has_prices: bool
    has_billed: bool


def line_table(lines: Iterable[OrderLine], fulfillments: Iterable[Fulfillment], number: str) -> LineTable:
    """Return the page `number` of the table. Makes no query if the arguments are already loaded.

    Return the last page if page `number` does not exist, and the first page if `number` is not a number.
    """
    lines = list(lines)
    page = Paginator(lines, LINES_PER_PAGE).get_page(number)
    routed: dict[int, list[FulfillmentLine]] = defaultdict(list)
    offers: dict[int, dict[Offer, None]] = defaultdict(dict)
    for fulfillment in fulfillments:
        for each in fulfillment.lines.all():
            routed[each.order_line_id].append(each)
            offer = (fulfillment.supplier, each.wholesale_price, fulfillment.currency)
            offers[each.order_line_id][offer] = None
    return LineTable(
        rows=[LineRow(line, routed[line.pk], [*offers[line.pk]]) for line in page],
        page=page,
        has_suppliers=any(offers.values()),
        has_prices=any(price is not None for each in offers.values() for _, price, _ in each),
        has_billed=any(line.billed_amount is not None for line in lines),
    )


def with_pictures(rows: Iterable[LineRow]) -> list[tuple[LineRow, str]]:
    """Return the rows with the URLs of their variants' pictures. Makes one query."""
    rows = list(rows)
    wanted = {row.variant_id for row in rows if row.variant_id}
    pictures = {each.pk: each.picture for each in Variant.objects.filter(pk__in=wanted).only("images")}
    return [(row, pictures.get(row.variant_id or 0, "")) for row in rows]

"""The queries for the contents of slips: at most four queries for any number of slips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, NamedTuple

from django.db.models import F, Q, QuerySet

from api.amounts import digits_of
from api.currencies import decimals_of
from api.errors import ApiError, Forbidden, NotFound, TooLarge
from fastdb.columns import Json, Moment
from fastdb.rows import as_rows, grouped
from fulfillments.models import Fulfillment, FulfillmentLine, Shipment, SlipTemplate
from fulfillments.serializers import AddressJson
from fulfillments.slips.contents import Slip, SlipBatch, SlipDesign, SlipLine

MOST_LINES = 20_000
"""The maximum number of lines in one document."""

SAMPLE_DAY = "2026-01-31T12:00:00Z"


class SlipsNotWanted(Forbidden):
    code = "slips_not_wanted"


class NothingToShip(ApiError):
    code, status = "nothing_to_ship", 409


class SlipRow(NamedTuple):
    """A fulfillment with the fields that its slip shows."""

    id: int
    partnership_id: int
    retailer_id: Annotated[int, F("order__retailer_id")]
    retailer: Annotated[str, F("order__retailer__name")]
    supplier: Annotated[str, F("supplier__name")]
    created_at: Moment
    order_number: Annotated[str, F("order__retailer_order_id")]
    sales_number: Annotated[str, F("order__sales_order_number")]
    ordered_on: Annotated[date | None, F("order__original_created_at")]
    pushed_at: Annotated[Moment, F("order__created_at")]
    ship_to: Annotated[Json[AddressJson], F("order__shipping_address")]
    shipping_method: Annotated[str, F("order__shipping_method_code")]
    currency: Annotated[str, F("order__currency")]
    is_gift: Annotated[bool, F("order__is_gift")]
    gift_message: Annotated[str, F("order__gift_message")]


class SlipLineRow(NamedTuple):
    """A line of a fulfillment, with the amount that the customer paid for its order line."""

    id: int
    fulfillment_id: int
    sku: str
    upc: str
    title: str
    left: Annotated[int, F("quantity") - F("rejected") - F("canceled")]
    billed: Annotated[Decimal | None, F("order_line__billed_amount")]
    ordered: Annotated[int, F("order_line__quantity")]


def read_slips(
    fulfillments: QuerySet[Fulfillment],
    ids: Sequence[int],
    *,
    shipment_id: int | None = None,
    template: SlipTemplate | None = None,
    leave_out: bool = False,
) -> SlipBatch:
    """Read the slips of these fulfillments, in the order of `ids`. A `template` replaces stored templates.

    With `leave_out`, fulfillments without a slip are left out. Otherwise they raise SlipsNotWanted or
    NothingToShip. Raises NotFound for an unknown id or parcel, and TooLarge for too many lines.
    """
    rows = {row.id: row for row in as_rows(fulfillments.filter(pk__in=ids), SlipRow)}
    if unknown := next((pk for pk in ids if pk not in rows), None):
        raise NotFound(f"There is no fulfillment {unknown}.")
    parcel = None if shipment_id is None else _parcel(ids[0], shipment_id)
    templates = _Templates(list(rows.values()), template)
    lines = _lines(ids)
    slips = []
    for pk in ids:
        try:
            slips.append(_slip(rows[pk], lines[pk], parcel, templates))
        except (SlipsNotWanted, NothingToShip):
            if not leave_out:
                raise
    return SlipBatch(templates.designs, slips)


def _parcel(fulfillment_id: int, shipment_id: int) -> Shipment:
    parcel = Shipment.objects.filter(fulfillment_id=fulfillment_id, pk=shipment_id).first()
    if parcel is None:
        raise NotFound(f"Fulfillment {fulfillment_id} has no parcel {shipment_id}.")
    return parcel


def _lines(ids: Sequence[int]) -> Mapping[int, list[SlipLineRow]]:
    found = FulfillmentLine.objects.filter(fulfillment_id__in=ids).order_by("id")
    lines = list(as_rows(found[: MOST_LINES + 1], SlipLineRow))
    if len(lines) > MOST_LINES:
        raise TooLarge(f"These slips have more than {MOST_LINES:,} lines. Print fewer slips at a time.")
    return grouped(lines, lambda line: line.fulfillment_id)


class _Templates:
    """The templates and designs of some slips. A partnership's template replaces the retailer's template."""

    def __init__(self, rows: list[SlipRow], template: SlipTemplate | None) -> None:
        self._only = template
        self.designs: list[SlipDesign] = []
        self._known: dict[tuple[int, str], int] = {}
        self._of_retailer, self._of_partnership = self._read(rows) if template is None else ({}, {})

    @staticmethod
    def _read(rows: list[SlipRow]) -> tuple[dict[int, SlipTemplate], dict[int, SlipTemplate]]:
        own = Q(partnership=None, retailer__in={row.retailer_id for row in rows})
        overriding = Q(partnership__in={row.partnership_id for row in rows})
        found = list(SlipTemplate.objects.filter(own | overriding))
        return (
            {each.retailer_id: each for each in found if each.partnership_id is None},
            {each.partnership_id: each for each in found if each.partnership_id is not None},
        )

    def of(self, row: SlipRow) -> tuple[SlipTemplate, int]:
        """Return the template of a fulfillment, and the index of its design. Raises SlipsNotWanted."""
        template = self._only or self._of_partnership.get(row.partnership_id)
        template = template or self._of_retailer.get(row.retailer_id) or SlipTemplate()
        if not template.wanted:
            raise SlipsNotWanted(
                f"{row.retailer} wants no packing slips. Ship fulfillment {row.id} without one."
            )
        key = (template.pk or -row.retailer_id, row.supplier)
        if key not in self._known:
            self._known[key] = len(self.designs)
            self.designs.append(_design(template, row))
        return template, self._known[key]


def _design(template: SlipTemplate, row: SlipRow) -> SlipDesign:
    return SlipDesign(
        header=template.header or row.retailer,
        footer=template.footer,
        return_address=template.return_address,
        language=template.language,
        paper=template.paper,
        show_prices=template.show_prices,
        supplier=row.supplier if template.show_supplier else "",
        logo=bytes(template.logo),
    )


def sample_slip(template: SlipTemplate) -> SlipBatch:
    """Return an invented slip, for the preview of a template if the retailer has no order yet."""
    address = {"first_name": "Ada", "last_name": "Byron", "address1": "1 Sample Street", "city": "London"}
    row = SlipRow(
        id=1,
        partnership_id=0,
        retailer_id=template.retailer_id,
        retailer=template.retailer.name,
        supplier=template.partnership.supplier.name if template.partnership else "Sample Supplier",
        created_at=SAMPLE_DAY,
        order_number="SAMPLE-1",
        sales_number="",
        ordered_on=None,
        pushed_at=SAMPLE_DAY,
        ship_to={name: address.get(name, "") for name in AddressJson.__annotations__},  # type: ignore[arg-type]
        shipping_method="GROUND",
        currency=template.retailer.currency,
        is_gift=False,
        gift_message="",
    )
    line = SlipLineRow(1, 1, "LAMP-1", "036000291452", "Reading lamp", 2, Decimal(50), 2)
    templates = _Templates([row], template)
    return SlipBatch(templates.designs, [_slip(row, [line], None, templates)])


def _slip(row: SlipRow, lines: list[SlipLineRow], parcel: Shipment | None, templates: _Templates) -> Slip:
    template, design = templates.of(row)
    units = {line.id: line.left for line in lines}
    if parcel is not None:
        units = {item["line"]: item["quantity"] for item in parcel.items}
    shown = [line for line in lines if units.get(line.id)]
    if not shown:
        raise NothingToShip(f"All units of fulfillment {row.id} are rejected or canceled: it has no slip.")
    is_gift = row.is_gift or bool(row.gift_message)
    amounts = [_amount(line, units[line.id], row.currency) for line in shown]
    digits = [digits_of(amount or Decimal(), row.currency) for amount in amounts]
    prices = template.show_prices and not is_gift and all(amount is not None for amount in amounts)
    return Slip(
        design=design,
        fulfillment_id=row.id,
        placed_at=row.created_at,
        order_number=row.order_number,
        sales_number=row.sales_number,
        ordered_on=str(row.ordered_on or row.pushed_at[:10]),
        ship_to=address_lines(row.ship_to),
        shipping_method=row.shipping_method,
        tracking_number=parcel.tracking_number if parcel else "",
        carrier=parcel.carrier if parcel else "",
        gift_message=row.gift_message,
        lines=[
            SlipLine(line.sku, line.upc, line.title, units[line.id], amount if prices else "")
            for line, amount in zip(shown, digits, strict=True)
        ],
        total=digits_of(sum(filter(None, amounts), Decimal()), row.currency) if prices else "",
        currency=row.currency,
    )


def address_lines(address: AddressJson) -> list[str]:
    """Return an address as the lines of a label. An address of an old order may lack some of its parts."""
    parts = {name: str(address.get(name) or "") for name in AddressJson.__annotations__}
    person = f"{parts['first_name']} {parts['last_name']}"
    town = f"{parts['zip_code']} {parts['city']} {parts['state']}"
    lines = [parts["company_name"], person, parts["address1"], parts["address2"], town, parts["country"]]
    return [" ".join(line.split()) for line in lines if line.strip()]


def _amount(line: SlipLineRow, units: int, currency: str) -> Decimal | None:
    """Return the billed amount of these units, in proportion to all units of the order line."""
    if line.billed is None or units == line.ordered:
        return line.billed
    smallest = Decimal(1).scaleb(-decimals_of(currency))
    return (line.billed * units / line.ordered).quantize(smallest, ROUND_HALF_UP)

"""Fulfillments as a table with one row for each line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from api.exporting.cells import harmless
from api.renderers import iso
from fulfillments.selectors import SHARED_WITH_SUPPLIERS
from fulfillments.serializers import FulfillmentJson, FulfillmentLineJson

ADDRESS = (
    *("first_name", "last_name", "company_name", "address1", "address2", "city", "state", "zip_code"),
    *("country", "phone_number", "email"),
)
FIRST_COLUMNS = (
    *("fulfillment_id", "line_id", "order_id", "retailer", "retailer_order_id"),
    *("sku", "upc", "title", "quantity", "wholesale_price", *ADDRESS),
    *("shipping_method_code", "ship_until", "due_at", "gift_message", "notes"),
    *("asked_at", "quantity_cancel_requested", "quantity_open", "currency"),
)
# The shipping address is left out, because its parts are columns. The other fields were never in the files.
LEFT_OUT = {"shipping_address", "billing_address", "sales_order_number", "is_gift"}
ORDER_COLUMNS = tuple(name for name in SHARED_WITH_SUPPLIERS if name not in LEFT_OUT)
COLUMNS = (*FIRST_COLUMNS, *(name for name in ORDER_COLUMNS if name not in FIRST_COLUMNS))
"""The columns of the files. A new field of an order becomes the last column, after all old columns."""
# Spreadsheets read a telephone number with this pattern as a number and never as a formula. So the cell is
# not escaped.
PHONE = re.compile(r"\+[0-9 ]+")


Units = Callable[[FulfillmentLineJson], int]
"""A function that returns the `quantity` in a line's row. A line with 0 units has no row."""


def line_rows(
    fulfillments: Iterable[FulfillmentJson], asked_at: Mapping[int, datetime], units: Units
) -> Iterator[dict[str, str]]:
    """Yield a row for each line of these fulfillments. Leave out lines for which `units` returns 0."""
    for fulfillment in fulfillments:
        yield from _rows(fulfillment, asked_at.get(fulfillment["id"]), units)


def open_units(line: FulfillmentLineJson) -> int:
    return line["quantity_open"]


def cancel_requested(line: FulfillmentLineJson) -> int:
    return line["quantity_cancel_requested"]


def all_units(line: FulfillmentLineJson) -> int:
    return line["quantity"]


def _rows(fulfillment: FulfillmentJson, asked_at: datetime | None, units: Units) -> Iterator[dict[str, str]]:
    fields_of: Mapping[str, object] = fulfillment
    same = {
        **{name: fields_of[name] for name in ORDER_COLUMNS},
        "fulfillment_id": fulfillment["id"],
        "order_id": fulfillment["order_id"],
        "retailer": fulfillment["retailer_name"],
        "notes": "; ".join(f"{note['name']}: {note['value']}" for note in fulfillment["notes"]),
        **{name: fulfillment["shipping_address"].get(name) for name in ADDRESS},
        "due_at": fulfillment["due_at"],
        "currency": fulfillment["currency"],
        "asked_at": iso(asked_at),
    }
    for line in fulfillment["lines"]:
        quantity = units(line)
        if quantity:
            fields = {name: line[name] for name in ("sku", "upc", "title", "wholesale_price")}
            row = {**same, **fields, "line_id": line["id"], "quantity": quantity}
            row |= {"quantity_cancel_requested": cancel_requested(line), "quantity_open": open_units(line)}
            yield {name: text_cell(value) for name, value in row.items()}


def text_cell(value: object) -> str:
    """Return the text of a cell, escaped so that no spreadsheet runs it as a formula."""
    cell = "" if value is None else str(value)
    return cell if PHONE.fullmatch(cell) else harmless(cell)

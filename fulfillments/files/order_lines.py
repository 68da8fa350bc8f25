"""Fulfillments as a CSV with one row for each line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping

from fulfillments.selectors import SHARED_WITH_SUPPLIERS
from fulfillments.serializers import FulfillmentJson, FulfillmentLineJson
from imports.report_format import harmless

ADDRESS = (
    *("first_name", "last_name", "company_name", "address1", "address2", "city", "state", "zip_code"),
    *("country", "phone_number", "email"),
)
FIRST_COLUMNS = (
    *("fulfillment_id", "line_id", "order_id", "retailer", "retailer_order_id"),
    *("sku", "upc", "title", "quantity", "wholesale_price", *ADDRESS),
    *("shipping_method_code", "ship_until", "due_at", "gift_message", "notes"),
)
# The parts of the shipping address are columns; files never had the others.
LEFT_OUT = {"shipping_address", "billing_address", "sales_order_number", "is_gift"}
ORDER_COLUMNS = tuple(name for name in SHARED_WITH_SUPPLIERS if name not in LEFT_OUT)
COLUMNS = (*FIRST_COLUMNS, *(name for name in ORDER_COLUMNS if name not in FIRST_COLUMNS))
"""A new field of an order becomes the last column, so that the others keep their positions."""
# A spreadsheet reads such a cell as a number and never as a formula.
PHONE = re.compile(r"\+[0-9 ]+")


def as_csv(fulfillments: Iterable[FulfillmentJson], *, open_only: bool) -> bytes:
    """Return the lines of these fulfillments as CSV; with `open_only`, only their open units."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for fulfillment in fulfillments:
        writer.writerows(_rows(fulfillment, open_only=open_only))
    return text.getvalue().encode()


def _rows(fulfillment: FulfillmentJson, *, open_only: bool) -> Iterator[dict[str, str]]:
    fields_of: Mapping[str, object] = fulfillment
    same = {
        **{name: fields_of[name] for name in ORDER_COLUMNS},
        "fulfillment_id": fulfillment["id"],
        "order_id": fulfillment["order_id"],
        "retailer": fulfillment["retailer_name"],
        "notes": "; ".join(f"{note['name']}: {note['value']}" for note in fulfillment["notes"]),
        **{name: fulfillment["shipping_address"].get(name) for name in ADDRESS},
        "due_at": fulfillment["due_at"],
    }
    for line in fulfillment["lines"]:
        quantity = _open(line) if open_only else line["quantity"]
        if quantity:
            fields = {name: line[name] for name in ("sku", "upc", "title", "wholesale_price")}
            row = {**same, **fields, "line_id": line["id"], "quantity": quantity}
            yield {name: _cell(value) for name, value in row.items()}


def _open(line: FulfillmentLineJson) -> int:
    done = line["quantity_shipped"] + line["quantity_rejected"] + line["quantity_canceled"]
    return line["quantity"] - done


def _cell(value: object) -> str:
    cell = "" if value is None else str(value)
    return cell if PHONE.fullmatch(cell) else harmless(cell)

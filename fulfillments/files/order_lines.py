"""Fulfillments as a CSV, a row for each line, for people with a spreadsheet and programs alike."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from fulfillments.serializers import FulfillmentJson, FulfillmentLineJson
from imports.report_format import harmless

ADDRESS = (
    *("first_name", "last_name", "company_name", "address1", "address2", "city", "state", "zip_code"),
    *("country", "phone_number", "email"),
)
COLUMNS = (
    *("fulfillment_id", "line_id", "order_id", "retailer", "retailer_order_id"),
    *("sku", "upc", "title", "quantity", "wholesale_price", *ADDRESS),
    *("shipping_method_code", "ship_until", "due_at", "gift_message", "notes"),
)
# What a spreadsheet takes for a number, it does not run.
PHONE = re.compile(r"\+[0-9 ]+")


def as_csv(fulfillments: Iterable[FulfillmentJson], *, open_only: bool) -> bytes:
    """The lines of these fulfillments; with `open_only` what is still to be done of them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for each in fulfillments:
        writer.writerows(_rows(each, open_only=open_only))
    return text.getvalue().encode()


def _rows(fulfillment: FulfillmentJson, *, open_only: bool) -> Iterator[dict[str, str]]:
    same = {
        "fulfillment_id": fulfillment["id"],
        "order_id": fulfillment["order_id"],
        "retailer": fulfillment["retailer_name"],
        "notes": "; ".join(f"{note['name']}: {note['value']}" for note in fulfillment["notes"]),
        **{name: fulfillment["shipping_address"].get(name) for name in ADDRESS},
        **{name: fulfillment[name] for name in ("retailer_order_id", "shipping_method_code")},
        **{name: fulfillment[name] for name in ("ship_until", "due_at", "gift_message")},
    }
    for line in fulfillment["lines"]:
        quantity = _open(line) if open_only else line["quantity"]
        if quantity:
            own = {name: line[name] for name in ("sku", "upc", "title", "wholesale_price")}
            row = {**same, **own, "line_id": line["id"], "quantity": quantity}
            yield {name: _cell(value) for name, value in row.items()}


def _open(line: FulfillmentLineJson) -> int:
    done = line["quantity_shipped"] + line["quantity_rejected"] + line["quantity_canceled"]
    return line["quantity"] - done


def _cell(value: object) -> str:
    cell = "" if value is None else str(value)
    return cell if PHONE.fullmatch(cell) else harmless(cell)

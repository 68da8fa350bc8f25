"""Functions for the first steps of most tests: they create variants, stock, orders and fulfillments."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from typing import Any

from .http_client import Caller, done, unique, well

ADDRESS = {
    "first_name": "Ada",
    "last_name": "Byron",
    "address1": "12 St James's Square",
    "address2": "",
    "country": "GB",
    "state": "",
    "city": "London",
    "zip_code": "SW1Y 4JH",
    "phone_number": "+44 20 7946 0000",
    "email": "ada@example.com",
    "company_name": "",
}
ALL = ("out_of_stock", "missing_sku", "wrong_address")
REFUSED = "cancelation not allowed"
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


def new_variant(supplier: Caller, stock: int | None = None, warehouse: int = 0, **fields: Any) -> Any:
    """Create a listed variant with a unique SKU. With `stock`, push a count for one of the warehouses."""
    body: dict[str, Any] = {
        "sku": unique("SKU"),
        "title": "A lamp",
        "retail_price": Decimal("19.99"),
    } | fields
    variant = well(supplier.post("variants", body), 201)
    if stock is not None:
        put_stock(supplier, body["sku"], stock, warehouse)
    return body | variant


def put_stock(supplier: Caller, sku: str, amount: int, warehouse: int = 0) -> None:
    body = {
        "warehouse_id": str(supplier.warehouses[warehouse]),
        "id_type": "sku",
        "inventories": [{"id": sku, "amount": amount}],
    }
    answer = well(supplier.post("inventory", body))
    assert answer["rejected"] == 0, answer


def stock_of(supplier: Caller, sku: str, warehouse: int = 0) -> Any:
    """Return the row of the stock list (`on_hand`, `reserved`, `available`) for a SKU in a warehouse."""
    answer = supplier.get("inventory", {"sku": sku, "warehouse_id": supplier.warehouses[warehouse]})
    body = well(answer)
    rows = body["results"] if isinstance(body, dict) else body
    rows = [row for row in rows if row["sku"] == sku]
    assert len(rows) == 1, answer
    return rows[0]


def numbers(supplier: Caller, sku: str, warehouse: int = 0) -> tuple[int, int]:
    """Return the units on hand and the reserved units of a SKU in a warehouse."""
    row = stock_of(supplier, sku, warehouse)
    return row["on_hand"], row["reserved"]


def order_body(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the complete body of an order with these lines."""
    return {
        "retailer_order_id": unique("RO"),
        "shipping_address": ADDRESS,
        "shipping_method_code": "GROUND",
        "order_lines": list(lines),
    } | fields


def push(retailer: Caller, *lines: dict[str, Any], **fields: Any) -> Any:
    """Push an order, and return the order as the retailer reads it."""
    answer = retailer.post("orders", order_body(*lines, **fields))
    return read(retailer, done(answer, "order_created", 201)["order_id"])


def read(retailer: Caller, order: Any) -> Any:
    return well(retailer.get(f"orders/{order['id'] if isinstance(order, dict) else order}"))


def state_of(retailer: Caller, order: Any) -> str:
    state = read(retailer, order)["processing_state"]
    assert isinstance(state, str)
    return state


def held_by(supplier: Caller, order: Any) -> list[Any]:
    """Return this supplier's fulfillments of an order as the supplier reads them, oldest first."""
    ids = sorted(each["id"] for each in order["fulfillments"] if each["supplier_id"] == supplier.id)
    return [fulfillment(supplier, each) for each in ids]


def fulfillment(supplier: Caller, number: int) -> Any:
    return well(supplier.get(f"fulfillments/{number}"))


def one_fulfillment(
    supplier: Caller, retailer: Caller, quantity: int = 2, stock: int = 10
) -> tuple[Any, Any]:
    """Push an order with one line that names this supplier. Return the order and its fulfillment."""
    variant = new_variant(supplier, stock=stock)
    order = push(retailer, {"sku": variant["sku"], "supplier_id": supplier.id, "quantity": quantity})
    held = held_by(supplier, order)
    assert len(held) == 1, order
    return order, held[0]


def act(supplier: Caller, number: int, status: str, body: Any = None) -> Any:
    """Send `PUT …/setStatus/<status>`. In the interface, `accepted` and the rejections have no body."""
    return supplier.put(f"fulfillments/{number}/setStatus/{status}", body)


def answer_cancel(supplier: Caller, number: int, status: str) -> Any:
    """Send `PUT …/setStatus` with the complete body of interface endpoint 7."""
    body = {"supplier_id": supplier.id, "fulfillment_id": number, "status": status}
    return supplier.put(f"fulfillments/{number}/setStatus", body)


def bring_to(state: str, supplier: Caller, retailer: Caller, order: Any, number: int) -> None:
    """Bring a new fulfillment of an order with one line into a state, only by requests."""
    if state == "new":
        return
    if state in ("accepted", "shipped"):
        done(act(supplier, number, "accepted", {}), "accepted")
    if state == "shipped":
        done(act(supplier, number, "shipped", {"tracking_number": "T-1"}), "shipped")
    if state in ALL:
        done(act(supplier, number, state), state)
    if state in ("canceling", "canceled", REFUSED):
        done(retailer.post(f"orders/{order['id']}/cancel"), "cancel_requested")
    if state == "canceled":
        done(answer_cancel(supplier, number, "canceled"), "canceled")
    if state == REFUSED:
        done(answer_cancel(supplier, number, REFUSED), "cancelation_not_allowed")
    assert fulfillment(supplier, number)["fulfillment_state"] == state


def finished(supplier: Caller, job: Any, seconds: float = 90) -> Any:
    """Wait until an import job has ended or waits for approval, and return it.

    Raises AssertionError after `seconds`.
    """
    until = time.monotonic() + seconds
    while True:
        job = well(supplier.get(f"imports/{job['id']}"))
        if job["status"] not in ("queued", "running"):
            return job
        assert time.monotonic() < until, f"the job does not end: {job}"
        time.sleep(0.3)


def import_lines(supplier: Caller, *lines: str, **fields: Any) -> Any:
    """Import these lines of a product file by `importProducts`, and return the ended job."""
    job = well(supplier.post("importProducts", {"data": list(lines)} | fields), 201)
    return finished(supplier, job)


def variant_by_sku(supplier: Caller, sku: str) -> Any:
    """Return a supplier's variant with this SKU, or None. The newest variants are on the last page."""
    answer = supplier.get("variants", {"limit": 500})
    while True:
        for variant in well(answer):
            if variant["sku"] == sku:
                return variant
        if not answer.next:
            return None
        answer = supplier.get(answer.next)

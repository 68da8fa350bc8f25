"""The first steps of most tests: create a variant, its stock, an order and its fulfillments."""

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
    """Create a listed variant with a unique sku, and `stock` in one of the supplier's warehouses."""
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
    """Return the stock row of one sku in one warehouse: on_hand, reserved, available."""
    answer = supplier.get("inventory", {"sku": sku, "warehouse_id": supplier.warehouses[warehouse]})
    body = well(answer)
    rows = body["results"] if isinstance(body, dict) else body
    rows = [row for row in rows if row["sku"] == sku]
    assert len(rows) == 1, answer
    return rows[0]


def numbers(supplier: Caller, sku: str, warehouse: int = 0) -> tuple[int, int]:
    """Return (on_hand, reserved) of one sku in one warehouse."""
    row = stock_of(supplier, sku, warehouse)
    return row["on_hand"], row["reserved"]


def order_body(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a complete order; `lines` are sent unchanged."""
    return {
        "retailer_order_id": unique("RO"),
        "shipping_address": ADDRESS,
        "shipping_method_code": "GROUND",
        "order_lines": list(lines),
    } | fields


def push(retailer: Caller, *lines: dict[str, Any], **fields: Any) -> Any:
    """Push an order and read it back."""
    answer = retailer.post("orders", order_body(*lines, **fields))
    return read(retailer, done(answer, "order_created", 201)["order_id"])


def read(retailer: Caller, order: Any) -> Any:
    return well(retailer.get(f"orders/{order['id'] if isinstance(order, dict) else order}"))


def state_of(retailer: Caller, order: Any) -> str:
    state = read(retailer, order)["processing_state"]
    assert isinstance(state, str)
    return state


def held_by(supplier: Caller, order: Any) -> list[Any]:
    """Return this supplier's fulfillments of an order, as the supplier reads them, oldest first."""
    ids = sorted(each["id"] for each in order["fulfillments"] if each["supplier_id"] == supplier.id)
    return [fulfillment(supplier, each) for each in ids]


def fulfillment(supplier: Caller, number: int) -> Any:
    return well(supplier.get(f"fulfillments/{number}"))


def one_fulfillment(
    supplier: Caller, retailer: Caller, quantity: int = 2, stock: int = 10
) -> tuple[Any, Any]:
    """Push an order of one line, pinned to this supplier; return (order, fulfillment)."""
    variant = new_variant(supplier, stock=stock)
    order = push(retailer, {"sku": variant["sku"], "supplier_id": supplier.id, "quantity": quantity})
    held = held_by(supplier, order)
    assert len(held) == 1, order
    return order, held[0]


def act(supplier: Caller, number: int, status: str, body: Any = None) -> Any:
    """Send PUT setStatus/<status>. Accept and the rejections have no body, as in the interface."""
    return supplier.put(f"fulfillments/{number}/setStatus/{status}", body)


def answer_cancel(supplier: Caller, number: int, status: str) -> Any:
    """Send PUT setStatus with the complete body of interface endpoint 7."""
    body = {"supplier_id": supplier.id, "fulfillment_id": number, "status": status}
    return supplier.put(f"fulfillments/{number}/setStatus", body)


def bring_to(state: str, supplier: Caller, retailer: Caller, order: Any, number: int) -> None:
    """Bring a new fulfillment of a one-line order into any of the nine states, by requests alone."""
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
    """Wait until an import job has ended; return it."""
    until = time.monotonic() + seconds
    while True:
        job = well(supplier.get(f"imports/{job['id']}"))
        if job["status"] not in ("queued", "running"):
            return job
        assert time.monotonic() < until, f"the job does not end: {job}"
        time.sleep(0.3)


def import_lines(supplier: Caller, *lines: str, **fields: Any) -> Any:
    """Import `data` by importProducts; return the job when it has ended."""
    job = well(supplier.post("importProducts", {"data": list(lines)} | fields), 201)
    return finished(supplier, job)


def variant_by_sku(supplier: Caller, sku: str) -> Any:
    """Find a supplier's variant on the pages of its list (the newest are on the last page)."""
    answer = supplier.get("variants", {"limit": 500})
    while True:
        for variant in well(answer):
            if variant["sku"] == sku:
                return variant
        if not answer.next:
            return None
        answer = supplier.get(answer.next)

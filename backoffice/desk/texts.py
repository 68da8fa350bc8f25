"""The texts of the desk's rows: title, parties and problem of a record, for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.models import ContactMessage
from backoffice.models import ServicePart
from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.models import ImportJob
from inventory.models import StockLevel
from orders.models import Order

LATE = {
    State.NEW: "should have been accepted",
    State.CANCELATION_NOT_ALLOWED: "should have been accepted",
    State.ACCEPTED: "should have been shipped",
}


def order_text(order: Order, problem: str) -> dict[str, object]:
    return {
        "title": order.retailer_order_id,
        "parties": str(order.retailer),
        "problem": problem,
    }


def refused_text(order: Order) -> dict[str, object]:
    lines = [line for line in order.lines.all() if line.rejected]
    named = ", ".join(f"{line.rejected} × {line.sku or line.upc or line.title}" for line in lines[:3])
    return order_text(order, f"Refused by all suppliers: {named}{', …' if len(lines) > 3 else ''}")


def fulfillment_text(work: Fulfillment, problem: str) -> dict[str, object]:
    return {
        "title": work.order.retailer_order_id,
        "parties": f"{work.supplier} for {work.order.retailer}",
        "problem": problem,
    }


def address_text(work: Fulfillment) -> dict[str, object]:
    return fulfillment_text(work, in_one_line(work.order.shipping_address))


def in_one_line(address: Mapping[str, object]) -> str:
    """Return the address without the name."""
    parts = ("address1", "address2", "zip_code", "city", "state", "country")
    return " ".join(str(address[part]) for part in parts if address.get(part))


def late_text(work: Fulfillment) -> dict[str, object]:
    return fulfillment_text(work, f"Fulfillment {work.pk} {LATE.get(State(work.state), 'is late')}")


def short_text(order: Order) -> dict[str, object]:
    lines = [line for line in order.lines.all() if line.waiting_since and (line.waiting or line.open)]
    named = ", ".join(f"{line.open - line.reserved + line.waiting} × {line.name}" for line in lines[:3])
    return order_text(order, f"{named}{', …' if len(lines) > 3 else ''} without stock")


def stock_text(level: StockLevel) -> dict[str, object]:
    return {
        "title": level.variant.sku,
        "parties": f"{level.warehouse.supplier}, {level.warehouse}",
        "problem": f"{level.reserved} reserved, {level.on_hand} on hand",
    }


def import_text(job: ImportJob) -> dict[str, object]:
    message = job.error["message"] if job.error else " ".join(job.report.get("reasons", ()))
    return {
        "title": f"{job.kind}: {job.source or 'sent as data'}",
        "parties": str(job.supplier),
        "problem": message[:200],
    }


def feed_text(supplier: Any) -> dict[str, object]:
    return {
        "title": supplier.name,
        "parties": supplier.name,
        "problem": "No count by push or file for two days",
    }


def webhook_text(webhook: Any) -> dict[str, object]:
    down = f"The receiver accepts no events: {webhook.last_error}" if webhook.is_down else ""
    dead = "Events were given up after 72 hours." if webhook.has_dead else ""
    problem = ". ".join(filter(None, (down, dead)))
    return {"title": webhook.url, "parties": str(webhook.party), "problem": problem}


def part_text(part: ServicePart) -> dict[str, object]:
    return {
        "title": str(part),
        "parties": "The service",
        "problem": "No sign of life. Check the host and the log.",
    }


def answer_text(answer: ContactMessage) -> dict[str, object]:
    return {
        "title": answer.text[:60],
        "parties": str(answer.contact.party) if answer.contact else "",
        "problem": f"{answer.contact or 'A deleted contact'} waits for you to read this answer",
    }

"""Taking an order in: once, with its stock reserved, or not at all (contract 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from accounts.actors import Actor
from accounts.models import Retailer
from api.errors import ApiError, Invalid, field_error
from api.inserting import insert, insert_unless_there
from api.prepared import Given, Prepared
from fulfillments.candidates import Market
from fulfillments.effects import keep_reasons, place
from fulfillments.explaining import availability
from fulfillments.routing import Plan, Want, plan
from inventory.reservations import Ledger
from orders.bodies import digest
from orders.models import Order, OrderLine
from orders.settling import ProcessingState


class OrderConflict(ApiError):
    code, status = "order_conflict", 409


class InsufficientStock(ApiError):
    code, status = "insufficient_stock", 409


@dataclass(frozen=True)
class Pushed:
    """The order, and whether this call made it."""

    order: Order
    created: bool


def push(retailer: Retailer, content: Mapping[str, Any], *, by: Actor) -> Pushed:
    """Take in what a retailer pushed: route it, reserve its stock, and record it, in one transaction.

    The same content again gives the same order. Raises OrderConflict for other content under a known
    `retailer_order_id`, Invalid for lines that find nothing, InsufficientStock where a partner refuses
    short orders.
    """
    order = _order(retailer, content)
    with transaction.atomic():
        if not insert_unless_there(order, "retailer_id", "retailer_order_id"):
            return _known(retailer, content)
        lines = [_line(position, line) for position, line in enumerate(content["order_lines"])]
        _fill(order, lines, _wants(lines, Market(retailer.pk, lines)), by=by)
    return Pushed(order, created=True)


def _known(retailer: Retailer, content: Mapping[str, Any]) -> Pushed:
    [order] = _pushed(retailer=retailer.pk, number=content["retailer_order_id"])
    if order.content_digest != digest(content):
        differing = _differing(order, _order(retailer, content), content)
        named = f", which differs in {', '.join(differing[:5])}" if differing else ""
        more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise OrderConflict(
            f"retailer_order_id {order.retailer_order_id} was pushed before with other content, as order "
            f"{order.pk}{named}{more}. An order is not changed by pushing it again: cancel it, or take "
            "another number.",
            [field_error(field, f"Is not what order {order.pk} has.", "differs") for field in differing],
        )
    return Pushed(order, created=False)


def _differing(order: Order, told: Order, content: Mapping[str, Any]) -> list[str]:
    """The fields in which a push is not what the order is now."""
    fields = [name for name in ORDER_FIELDS if getattr(told, name) != getattr(order, name)]
    known = list(order.lines.order_by("position"))
    lines = [_line(position, line) for position, line in enumerate(content["order_lines"])]
    if len(lines) != len(known):
        return [*fields, "order_lines"]
    return fields + [
        f"order_lines[{line.position}].{field.removeprefix('asked_')}"
        for line, before in zip(lines, known, strict=True)
        for field in LINE_FIELDS
        if getattr(line, field) != getattr(before, field)
    ]


@Prepared
def _pushed() -> QuerySet[Order]:
    return Order.objects.filter(retailer_id=Given("retailer"), retailer_order_id=Given("number")).order_by()


def _fill(order: Order, lines: list[OrderLine], wants: list[Want], *, by: Actor) -> None:
    with order.collecting():
        ledger = Ledger.lock(each.variant_id for want in wants for each in want.candidates)
        available = availability(ledger)
        chosen = plan(wants, ledger, allow_short=True)
        _refuse_unfilled(chosen, wants, available)
        _save_lines(order, lines, chosen)
        order.note("order.created", by=by, data={"retailer_order_id": order.retailer_order_id})
        parts = [replace(part, line=lines[part.line].pk) for part in chosen.parts]
        place(order, parts, by=by)
        wants = [replace(want, line=lines[want.line].pk) for want in wants]
        keep_reasons(order, wants, Plan(parts), available, cause="order.created")
        ledger.save()
        order.settle(ProcessingState.RECEIVED)


def _order(retailer: Retailer, content: Mapping[str, Any]) -> Order:
    given = {name: content[name] for name in ORDER_FIELDS if content.get(name) is not None}
    return Order(retailer=retailer, content_digest=digest(content), **given)


ORDER_FIELDS = (
    "retailer_order_id",
    "type",
    "id_in_source",
    "shipping_address",
    "billing_address",
    "shipping_method_code",
    "shipping_paid",
    "shipping_tax",
    "sales_division_code",
    "sales_order_number",
    "gift_message",
    "is_gift",
    "ship_until",
    "original_created_at",
    "notes",
)


LINE_FIELDS = (
    "sku",
    "upc",
    "asked_supplier_id",
    "asked_variant_id",
    "quantity",
    "billed_amount",
    "tax_billed_amount",
    "notes",
)


def _line(position: int, line: Mapping[str, Any]) -> OrderLine:
    return OrderLine(
        position=position,
        sku=line.get("sku", ""),
        upc=line.get("upc", ""),
        asked_supplier_id=line.get("supplier_id"),
        asked_variant_id=line.get("variant_id"),
        quantity=line["quantity"],
        billed_amount=line.get("billed_amount"),
        tax_billed_amount=line.get("tax_billed_amount"),
        notes=line.get("notes") or [],
    )


def _wants(lines: Sequence[OrderLine], market: Market) -> list[Want]:
    """What each line wants, keyed by its position. Raises Invalid naming every line that finds nothing."""
    wants = [Want(line.position, line.quantity, market.candidates(line)) for line in lines]
    lost = [lines[want.line] for want in wants if not want.candidates]
    if lost:
        errors = [field_error(f"order_lines[{line.position}]", _lost(line), "not_found") for line in lost]
        raise Invalid("; ".join(f"{each['field']}: {each['message']}" for each in errors[:3]), errors)
    return wants


def _lost(line: OrderLine) -> str:
    asked = {
        "variant_id": line.asked_variant_id,
        "supplier_id": line.asked_supplier_id,
        "upc": line.upc,
        "sku": line.sku,
    }
    given = ", ".join(f"{name} {value}" for name, value in asked.items() if value)
    return f"None of your active partners lists a variant with {given}."


def _refuse_unfilled(chosen: Plan, wants: Sequence[Want], available: Mapping[Any, int]) -> None:
    if not chosen.unfilled:
        return
    errors = [
        field_error(
            f"order_lines[{line}].quantity",
            f"Only {wants[line].quantity - missing} of {wants[line].quantity} are in stock.",
            "insufficient_stock",
        )
        for line, missing in sorted(chosen.unfilled.items())
    ]
    message = "; ".join(f"{each['field']}: {each['message']}" for each in errors[:3])
    raise InsufficientStock(f"{message} This partner takes no short orders; nothing was created.", errors)


def _save_lines(order: Order, lines: list[OrderLine], chosen: Plan) -> None:
    for line in lines:
        line.order = order
        line.open = line.quantity
        line.reserved = sum(part.reserved for part in chosen.parts if part.line == line.position)
    insert(lines)

"""The push of an order: the order is created and routed, and its stock is reserved (contract 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Retailer, Suspension, WhenShort
from api.errors import ApiError, Invalid, Unavailable, field_error
from fastdb.compiled import CompiledQuery, Param
from fastdb.inserts import insert, insert_unless_there
from fulfillments.models.quantities import order_items
from fulfillments.planning.candidates import Market
from fulfillments.planning.routing import Agreed, Allocation, Plan, Want, plan
from fulfillments.services import create_fulfillments, save_routing_decision
from fulfillments.stock_for_backorders import StockLeft, stock_left_for_new
from inventory.arrivals import stock_arrived
from inventory.reservations import LockedStock, Stock
from inventory.seen_stock import SeenStock, StockMoved
from orders.addresses.addresses import has_unknown_country, unknown_country
from orders.amounts import billed_total, currency_of, refuse_fractions
from orders.change import OrderChange, first_change_of
from orders.models import Order, OrderLine
from orders.processing_state import ProcessingState
from orders.push_body import LINE_FIELDS, ORDER_FIELDS, digest
from orders.pushed_again import check_same_content


class TradeSuspended(ApiError):
    """The error for a push by a suspended retailer (docs/adr/0030)."""

    code, status = "trade_suspended", 409


class InsufficientStock(ApiError):
    code, status = "insufficient_stock", 409


Fill = Callable[[OrderChange[Order], list[OrderLine], list[Want]], None]
"""A function that routes an order's lines, and writes lines, fulfillments and stock."""


@dataclass(frozen=True)
class Pushed:
    """The result of a push: the order, and whether this push created the order."""

    order: Order
    created: bool


def push(retailer: Retailer, content: Mapping[str, Any], *, by: Actor, reopen: bool = False) -> Pushed:
    """Create an order: route it, reserve its stock and record it, in one transaction.

    A repeated push with the same content returns the same order. With `reopen`, the number of a canceled
    order is used again for a new order.

    Raises OrderConflict for other content under a known `retailer_order_id`, and Invalid for lines that match
    no variant. Raises TradeSuspended for such lines if the retailer is suspended. Raises InsufficientStock if
    short units can be neither placed nor kept waiting.
    """
    generation = _next_generation(retailer, content["retailer_order_id"]) if reopen else 0
    with suppress(StockMoved):
        return _push(retailer, content, generation, _fill_from_seen, by=by)
    return _push(retailer, content, generation, _fill_from_held, by=by)


def _next_generation(retailer: Retailer, number: str) -> int:
    """Return the generation that a new order with this number would have.

    If the newest order with the number is canceled, return the next generation. Otherwise return the newest
    order's own generation, so that the push finds this order instead of creating another order. If two pushes
    run at once, only one of them creates the next generation.
    """
    newest = next(iter(_pushed(retailer=retailer.pk, number=number)), None)
    if newest is None:
        return 0
    return newest.generation + (newest.processing_state == ProcessingState.CANCELED)


def _push(
    retailer: Retailer, content: Mapping[str, Any], generation: int, fill: Fill, *, by: Actor
) -> Pushed:
    order = _order(retailer, content)
    order.generation = generation
    lines = [_line(position, line) for position, line in enumerate(content["order_lines"])]
    with transaction.atomic():
        if not insert_unless_there(order):
            return _known(order, lines, content, generation)
        refuse_fractions(order, lines)
        market = Market.of(
            retailer.pk,
            lines,
            country_known=not order.has_unknown_country,
            when_short=order.when_short,
        )
        with first_change_of(order, by=by) as change:
            fill(change, lines, _wants(order, lines, market))
    return Pushed(order, created=True)


def _known(pushed: Order, lines: Sequence[OrderLine], content: Mapping[str, Any], generation: int) -> Pushed:
    """Return the order with this number. Raises OrderConflict or Invalid for other content."""
    order = _pushed(retailer=pushed.retailer_id, number=pushed.retailer_order_id)[0]
    if order.generation < generation:
        raise Unavailable(
            "This number cannot be used again before the upgrade of the service is finished. "
            "Try again later, or use another number."
        )
    check_same_content(order, pushed, lines, content)
    return Pushed(order, created=False)


@CompiledQuery
def _pushed() -> QuerySet[Order]:
    """Select a retailer's orders with the same order number, the newest first."""
    orders = Order.objects.filter(retailer_id=Param("retailer"), retailer_order_id=Param("number"))
    return orders.order_by("-generation")


def _fill_from_seen(change: OrderChange[Order], lines: list[OrderLine], wants: list[Want]) -> None:
    """Plan and write the order without locking stock for the planning.

    Raises StockMoved if the stock changed after it was read. Raises StockMoved also if a backorder may wait
    for a variant that the order reserves, because only `_fill_from_held` leaves units for backorders.
    """
    stock = SeenStock.read(_variants(wants), by=change.by)
    taken = _fill(change, lines, wants, stock, StockLeft(stock.availability()))
    if taken and change.has_waiting_lines(taken):
        raise StockMoved


def _fill_from_held(change: OrderChange[Order], lines: list[OrderLine], wants: list[Want]) -> None:
    """Plan and write the order with all its stock rows locked from the start."""
    stock = LockedStock.lock(_variants(wants), by=change.by)
    _fill(change, lines, wants, stock, stock_left_for_new(change, stock))


def _variants(wants: Sequence[Want]) -> set[int]:
    return {each.variant_id for want in wants for each in want.candidates}


def _fill(
    change: OrderChange[Order], lines: list[OrderLine], wants: list[Want], stock: Stock, left: StockLeft
) -> set[int]:
    """Plan and write the order. Return the ids of the variants whose stock the order reserves.

    Stock is written last, so that its rows are locked only briefly.
    """
    chosen = plan(wants, left.units, allow_short=True)
    _refuse_unfilled(change.order, chosen, wants)
    _save_lines(change.order, lines, wants, chosen)
    waiting = {lines[position].pk: units for position, units in chosen.unfilled.items()}
    data: dict[str, object] = {"retailer_order_id": change.order.retailer_order_id}
    if waiting:
        data["waiting"] = order_items(waiting)
    change.record("order.created", data=data)
    allocations = [replace(each, line=lines[each.line].pk) for each in chosen.allocations]
    create_fulfillments(change, allocations, stock, contested=left.contested)
    wants = [replace(each, line=lines[each.line].pk) for each in wants]
    save_routing_decision(change, wants, Plan(allocations, waiting), left.units, cause="order.created")
    missed = _missed(wants, allocations)
    stock.save(missed=missed)
    if missed:
        # This transaction could not lock stock rows that did not exist yet. Request an allocation, because
        # another transaction may have inserted such a row with stock.
        stock_arrived(missed)
    return {each.candidate.variant_id for each in allocations if each.reserved}


def _missed(wants: Sequence[Want], allocations: Sequence[Allocation]) -> set[int]:
    """Return the ids of the variants that could fill a line whose units are not all reserved."""
    reserved = Counter[int]()
    for each in allocations:
        reserved[each.line] += each.reserved
    return {
        candidate.variant_id
        for want in wants
        if reserved[want.line] < want.quantity
        for candidate in want.candidates
    }


def _order(retailer: Retailer, content: Mapping[str, Any]) -> Order:
    kept = {name: content[name] for name in ORDER_FIELDS if content.get(name) is not None}
    unknown_country = has_unknown_country(content["shipping_address"])
    if "currency" not in kept:
        kept["currency"] = currency_of(retailer)
    return Order(
        retailer=retailer,
        content_digest=digest(content),
        has_unknown_country=unknown_country,
        billed_total=billed_total(content["order_lines"]),
        **kept,
    )


def _line(position: int, line: Mapping[str, object]) -> OrderLine:
    kept = {column: line[name] for name, column in LINE_FIELDS.items() if line.get(name) is not None}
    return OrderLine(position=position, **kept)


def _wants(order: Order, lines: Sequence[OrderLine], market: Market) -> list[Want]:
    """Return a want for each line.

    Raises Invalid with an error for each line without a candidate. If all partners refuse a line because the
    country is unknown, the only error is for the country. Raises TradeSuspended if a line has no candidate
    and the retailer is suspended.
    """
    wants = [Want(line.position, line.quantity, market.candidates(line)) for line in lines]
    lost = [lines[want.line] for want in wants if not want.candidates]
    if any(market.is_strict(line) for line in lost):
        country = unknown_country(order.shipping_address["country"])
        message = f"{country} Partners that have these goods accept no order without a known country."
        raise Invalid.at("shipping_address.country", message, "unknown_country")
    if lost:
        _refuse_suspended(order.retailer)
        errors = [field_error(f"order_lines[{line.position}]", _lost(line), "not_found") for line in lost]
        raise Invalid.of(errors)
    return _within_limits(lines, wants)


def _within_limits(lines: Sequence[OrderLine], wants: Sequence[Want]) -> list[Want]:
    """Leave out a candidate if its partnership allows fewer units of the variant in one order.

    Raises Invalid with an error for the quantity of each line without a remaining candidate.
    """
    ordered = Counter[int]()  # units of each variant in this line and the earlier lines
    errors, within = [], []
    for want in wants:
        ordered.update({each.variant_id: want.quantity for each in want.candidates})
        limits = {each: each.partnership.max_units_per_line for each in want.candidates}
        able = tuple(each for each, most in limits.items() if ordered[each.variant_id] <= most)
        within.append(replace(want, candidates=able))
        if not able:
            most = max(limits.values())
            total = max(ordered[each.variant_id] for each in want.candidates)
            message = f"An order may have at most {most} units of {lines[want.line].name}, not {total}."
            errors.append(field_error(f"order_lines[{want.line}].quantity", message, "too_many"))
    if errors:
        raise Invalid.of(errors)
    return within


def _refuse_suspended(retailer: Retailer) -> None:
    """Raise TradeSuspended if lines match no variant because the retailer is suspended."""
    suspension = Suspension.objects.in_force().filter(retailer=retailer).first()
    if suspension is not None:
        until = f"until {suspension.until}" if suspension.until else "until further notice"
        raise TradeSuspended(
            f"Your trade is suspended {until}: new orders are refused, open orders continue."
        )


def _lost(line: OrderLine) -> str:
    asked = {
        "variant_id": line.asked_variant_id,
        "supplier_id": line.asked_supplier_id,
        "upc": line.upc,
        "sku": line.sku,
    }
    given = ", ".join(f"{name} {value}" for name, value in asked.items() if value)
    return f"No active partner of yours lists a variant with {given}."


def _refuse_unfilled(order: Order, chosen: Plan, wants: Sequence[Want]) -> None:
    """Raise InsufficientStock if a line has unfilled units, and these units may not wait for stock."""
    refused = {
        line: missing
        for line, missing in sorted(chosen.unfilled.items())
        if not any(candidate.waits for candidate in wants[line].candidates)
    }
    if not refused:
        return
    errors = [
        field_error(
            f"order_lines[{line}].quantity",
            f"Only {wants[line].quantity - missing} of {wants[line].quantity} are in stock.",
            "insufficient_stock",
        )
        for line, missing in refused.items()
    ]
    reason = "The order asks to be refused when it is short; nothing was created."
    if order.when_short != WhenShort.REFUSE:
        reason = "This partner accepts no short orders; nothing was created."
    raise InsufficientStock.of(errors, reason)


def _save_lines(order: Order, lines: list[OrderLine], wants: Sequence[Want], chosen: Plan) -> None:
    reserved, agreed = Counter[int](), dict[int, Agreed]()
    for each in chosen.allocations:
        reserved[each.line] += each.reserved
        agreed.setdefault(each.line, each.candidate.agreed)
    now = timezone.now()
    for line, want in zip(lines, wants, strict=True):
        line.order = order
        line.waiting = chosen.unfilled.get(line.position, 0)
        line.open = line.quantity - line.waiting
        line.reserved = reserved[line.position]
        line.title = agreed.get(line.position, want.candidates[0].agreed).title
        line.waiting_since = now if line.reserved < line.quantity else None
    insert(lines)

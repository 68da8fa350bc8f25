"""Who else could ship what a fulfillment has open: asked before an operator sends it there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from accounts.actors import Actor
from accounts.models import Supplier
from fulfillments.models import Fulfillment
from fulfillments.planning.candidates import Market, WantedLine
from fulfillments.planning.explaining import ConsideredJson, DecisionJson, explain
from fulfillments.planning.routing import Want, plan
from fulfillments.refusals import refusals_of
from inventory.models import Warehouse
from inventory.seen_stock import SeenStock

LOOKER = Actor.system("look")


@dataclass(frozen=True)
class Elsewhere:
    """Each line's candidates with price, stock and why they would be taken or passed over; and the suppliers
    that could take all of it, by their ids.
    """

    lines: list[dict[str, Any]]
    able: dict[int, str]
    chosen: str
    """Whom routing would take; empty where nobody has all of it."""


def look_elsewhere(fulfillment: Fulfillment) -> Elsewhere:
    """What sending it elsewhere would do now. Nothing is locked; seven queries."""
    open_, skus, wanted = Counter[int](), dict[int, str](), dict[int, WantedLine]()
    for line in fulfillment.lines.all():
        if line.open:
            asked = line.order_line
            open_[asked.pk] += line.open
            skus[asked.pk] = line.sku
            wanted[asked.pk] = WantedLine(
                asked.pk, asked.sku, asked.upc, asked.asked_supplier_id, asked.asked_variant_id
            )
    wants = _wants(fulfillment, open_, list(wanted.values()))
    variants = {each.variant_id for want in wants for each in want.candidates}
    available = SeenStock.read(variants, by=LOOKER).availability()
    chosen = plan(wants, available, allow_short=False)
    decisions = explain(wants, chosen, available)
    ids = {each["supplier_id"] for decision in decisions for each in decision["candidates"]}
    suppliers = {each.pk: each for each in Supplier.objects.filter(pk__in=ids)}
    places = {each["warehouse_id"] or 0 for decision in decisions for each in decision["candidates"]}
    warehouses = {each.pk: each for each in Warehouse.objects.filter(pk__in=places)}
    lines = [
        {
            "sku": skus[decision["line_id"]],
            "quantity": decision["quantity"],
            "looked_for": _looked_for(wanted[decision["line_id"]]),
            "candidates": [
                {
                    **each,
                    "supplier": suppliers[each["supplier_id"]],
                    "warehouse": warehouses.get(each["warehouse_id"] or 0),
                    "is_own": each["supplier_id"] == fulfillment.supplier_id,
                    "reason": _passed_over(decision, each) if chosen.unfilled else each["reason"],
                }
                for each in decision["candidates"]
            ],
        }
        for decision in decisions
    ]
    able = {pk: each.name for pk, each in sorted(suppliers.items()) if _has_all(pk, wants, available)}
    taken = sorted({suppliers[each.candidate.supplier_id].name for each in chosen.allocations})
    return Elsewhere(lines, able, "" if chosen.unfilled else ", ".join(taken))


def _wants(fulfillment: Fulfillment, open_: Counter[int], lines: list[WantedLine]) -> list[Want]:
    order = fulfillment.order
    market = Market.of(order.retailer_id, lines, country_known=not order.has_unknown_country)
    refusals = refusals_of(open_)
    return [
        Want(
            line.id,
            open_[line.id],
            market.candidates(line, refusals[line.id].suppliers | {fulfillment.supplier_id}),
            frozenset(refusals[line.id].places),
        )
        for line in lines
    ]


def _looked_for(line: WantedLine) -> str:
    """What makes somebody a candidate, since the same goods may have other names elsewhere."""
    if line.asked_variant_id is not None:
        return f"The order names variant {line.asked_variant_id}: nobody else has that one."
    if line.asked_supplier_id is not None:
        return "The order names its supplier: nobody else is asked."
    if line.upc:
        return f"The order names UPC {line.upc}: whoever lists that is asked."
    return f"The order names the sku {line.sku} and no UPC: whoever calls it so is asked."


def _passed_over(decision: DecisionJson, source: ConsideredJson) -> str:
    """Why nothing goes there where nobody has all of it: it goes as a whole, or not at all."""
    if not source["quantity"]:
        return source["reason"]
    if decision["unfilled"]:
        return f"Not enough: {source['quantity']} of {decision['quantity']}, and nobody else has the rest."
    return "Has this line's pieces, but nobody has all of the others."


def _has_all(supplier_id: int, wants: list[Want], available: dict[tuple[int, int], int]) -> bool:
    own = [
        Want(
            want.line,
            want.quantity,
            tuple(each for each in want.candidates if each.supplier_id == supplier_id),
            want.refused_places,
        )
        for want in wants
    ]
    return not plan(own, available, allow_short=False).unfilled

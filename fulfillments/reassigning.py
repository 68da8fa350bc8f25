"""The other suppliers for a fulfillment's open units, shown before an operator reassigns it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from accounts.actors import Actor
from accounts.models import Supplier
from fulfillments.models import Fulfillment
from fulfillments.models.kept_parcel import unsent_units
from fulfillments.planning.candidates import Market, WantedLine
from fulfillments.planning.explaining import ConsideredJson, DecisionJson, explain, price_of
from fulfillments.planning.routing import Want, plan
from fulfillments.refusals import refusals_of
from inventory.models import Warehouse
from inventory.seen_stock import SeenStock

PREVIEW = Actor.system("look")


@dataclass(frozen=True)
class Alternatives:
    """The candidates for a fulfillment's open units, and the other suppliers that have units in stock.

    `lines` has each line with its candidates: price, stock, and the reason why a candidate was chosen or not.
    `able` has the names of the other suppliers that have all units, by id.
    """

    lines: list[dict[str, Any]]
    able: dict[int, str]
    partly: dict[int, str]
    """The names of the other suppliers that have only some of the units, by id."""
    chosen: str
    """The suppliers that routing would choose; empty if the candidates do not have all units."""


def find_alternatives(fulfillment: Fulfillment) -> Alternatives:
    """Return the suppliers that could take the open units now. Units in kept parcels stay where they are.

    Makes seven queries, or eight for a held order, and locks no row.
    """
    open_, skus, wanted = Counter[int](), dict[int, str](), dict[int, WantedLine]()
    unsent = unsent_units(fulfillment)
    for line in fulfillment.lines.all():
        if unsent(line):
            order_line = line.order_line
            open_[order_line.pk] += unsent(line)
            skus[order_line.pk] = line.sku
            wanted[order_line.pk] = WantedLine(
                order_line.pk,
                order_line.sku,
                order_line.upc,
                order_line.asked_supplier_id,
                order_line.asked_variant_id,
            )
    wants = _wants(fulfillment, open_, list(wanted.values()))
    variants = {candidate.variant_id for want in wants for candidate in want.candidates}
    available = SeenStock.read(variants, by=PREVIEW).availability()
    chosen = plan(wants, available, allow_short=False)
    decisions = explain(wants, chosen, available)
    considered = [each for decision in decisions for each in decision["candidates"]]
    suppliers = Supplier.objects.in_bulk({each["supplier_id"] for each in considered})
    warehouses = Warehouse.objects.in_bulk({each["warehouse_id"] or 0 for each in considered})
    lines = [
        {
            "sku": skus[decision["line_id"]],
            "quantity": decision["quantity"],
            "looked_for": _matched_by(wanted[decision["line_id"]]),
            "candidates": [
                {
                    **each,
                    "supplier": suppliers[each["supplier_id"]],
                    "warehouse": warehouses.get(each["warehouse_id"] or 0),
                    "price": price_of(each),
                    "is_own": each["supplier_id"] == fulfillment.supplier_id,
                    "reason": _why_not(decision, each) if chosen.unfilled else each["reason"],
                }
                for each in decision["candidates"]
            ],
        }
        for decision in decisions
    ]
    others = {
        pk: supplier.name for pk, supplier in sorted(suppliers.items()) if pk != fulfillment.supplier_id
    }
    able = {
        pk: f"{name} (ask this supplier again)" if _refused(pk, wants) else name
        for pk, name in others.items()
        if _has_all(pk, wants, available)
    }
    part = {each["supplier_id"] for each in considered if each["available"] > 0} & others.keys()
    partly = {pk: name for pk, name in others.items() if pk in part and pk not in able}
    names = sorted({suppliers[each.candidate.supplier_id].name for each in chosen.allocations})
    return Alternatives(lines, able, partly, "" if chosen.unfilled else ", ".join(names))


def _wants(fulfillment: Fulfillment, open_: Counter[int], lines: list[WantedLine]) -> list[Want]:
    order = fulfillment.order
    market = Market.of_open_order(order.retailer_id, lines, country_known=not order.has_unknown_country)
    refusals = refusals_of(open_)
    return [
        Want(
            line.id,
            open_[line.id],
            market.candidates(line, refusals[line.id].suppliers | {fulfillment.supplier_id}),
            frozenset(refusals[line.id].warehouses),
        )
        for line in lines
    ]


def _matched_by(line: WantedLine) -> str:
    """Return a sentence that says which field of the order line determined the candidates."""
    if line.asked_variant_id is not None:
        return f"The order names variant {line.asked_variant_id}, which no other supplier has."
    if line.asked_supplier_id is not None:
        return "The order names its supplier, so no other supplier is a candidate."
    if line.upc:
        return f"The order names UPC {line.upc}. Every partner that lists this UPC is a candidate."
    return f"The order names sku {line.sku} and no UPC. Every partner that lists this sku is a candidate."


def _why_not(decision: DecisionJson, source: ConsideredJson) -> str:
    """Return the reason why a candidate gets no units, if the candidates together have too few units.

    In this case no candidate gets units, because the chosen units are reassigned all together or not at all.
    """
    if not source["quantity"]:
        return source["reason"]
    if decision["unfilled"]:
        return f"Not enough: {source['quantity']} of {decision['quantity']}, and no one else has the rest."
    return "Has all units of this line, but units of other lines are not in stock."


def _refused(supplier_id: int, wants: list[Want]) -> bool:
    """Return whether the supplier, or one of its warehouses, refused one of the lines before."""
    refused = {each.supplier_id for want in wants for each in want.candidates if each.refused}
    refused |= {supplier for want in wants for supplier, _ in want.refused_warehouses}
    return supplier_id in refused


def _has_all(supplier_id: int, wants: list[Want], available: dict[tuple[int, int], int]) -> bool:
    """Return whether the supplier has all units.

    Ignore earlier refusals of the supplier, because these refusals end if an operator chooses the supplier.
    """
    supplier_wants = [
        Want(
            want.line,
            want.quantity,
            tuple(
                replace(each, refused=False) for each in want.candidates if each.supplier_id == supplier_id
            ),
        )
        for want in wants
    ]
    return not plan(supplier_wants, available, allow_short=False).unfilled

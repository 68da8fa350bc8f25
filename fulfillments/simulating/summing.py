"""The result of a simulation, in the form that its row stores between slices."""

from __future__ import annotations

from decimal import Decimal
from typing import TypedDict

from fulfillments.simulating.replaying import Replayed

EXAMPLES = 50


class SideJson(TypedDict):
    """The totals of the orders, with or without the rule; money as text."""

    orders: int
    fulfillments: int
    pieces: int
    money: str
    short: int
    unfilled: int


class SimulatedSupplierJson(TypedDict):
    before: SideJson
    after: SideJson


class ExampleJson(TypedDict):
    """An order that the rule would route differently: units by supplier, before and after."""

    order_id: int
    number: str
    before: dict[str, int]
    after: dict[str, int]
    more_money: str


class SimulationResultJson(TypedDict):
    """The result so far. `unlike` of the `orders` do not repeat their stored decision and are left out."""

    orders: int
    unlike: int
    changed: int
    moved: int
    before: SideJson
    after: SideJson
    suppliers: dict[str, SimulatedSupplierJson]
    examples: list[ExampleJson]


def nothing_yet() -> SimulationResultJson:
    return {
        "orders": 0,
        "unlike": 0,
        "changed": 0,
        "moved": 0,
        "before": _side(),
        "after": _side(),
        "suppliers": {},
        "examples": [],
    }


def add(result: SimulationResultJson, order_id: int, number: str, before: Replayed, after: Replayed) -> None:
    """Add one order to the result."""
    _add(result["before"], before)
    _add(result["after"], after)
    for supplier in before.parts.keys() | after.parts.keys():
        known = result["suppliers"].setdefault(str(supplier), {"before": _side(), "after": _side()})
        _add_part(known["before"], before, supplier)
        _add_part(known["after"], after, supplier)
    if before.sources == after.sources and before.unfilled == after.unfilled:
        return
    result["changed"] += 1
    result["moved"] += before.parts.keys() != after.parts.keys()
    if len(result["examples"]) < EXAMPLES:
        result["examples"].append(
            {
                "order_id": order_id,
                "number": number,
                "before": {str(each): part.units for each, part in sorted(before.parts.items())},
                "after": {str(each): part.units for each, part in sorted(after.parts.items())},
                "more_money": str(after.money - before.money),
            }
        )


def _side() -> SideJson:
    return {"orders": 0, "fulfillments": 0, "pieces": 0, "money": "0", "short": 0, "unfilled": 0}


def _add(side: SideJson, replayed: Replayed) -> None:
    side["orders"] += 1
    side["fulfillments"] += replayed.fulfillments
    side["pieces"] += sum(part.units for part in replayed.parts.values())
    side["money"] = str(Decimal(side["money"]) + replayed.money)
    side["short"] += replayed.short
    side["unfilled"] += replayed.unfilled


def _add_part(side: SideJson, replayed: Replayed, supplier: int) -> None:
    part = replayed.parts.get(supplier)
    if part is None:
        return
    side["orders"] += 1
    side["fulfillments"] += part.fulfillments
    side["pieces"] += part.units
    side["money"] = str(Decimal(side["money"]) + part.money)
    side["short"] += part.units - part.in_stock

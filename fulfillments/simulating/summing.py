"""The result of a simulation, in the form in which the simulation's row stores it between two tasks."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TypedDict

from fulfillments.simulating.replaying import Replayed

EXAMPLES = 50


class SideJson(TypedDict):
    """The totals of the orders, with or without the rule. Amounts are texts, by currency."""

    orders: int
    fulfillments: int
    pieces: int
    amounts: dict[str, str]
    short: int
    unfilled: int


class SimulatedSupplierJson(TypedDict):
    before: SideJson
    after: SideJson


class ExampleJson(TypedDict):
    """An order that the rule would route differently: the units by supplier id, without and with the rule.

    `more` is the additional cost by currency.
    """

    order_id: int
    number: str
    before: dict[str, int]
    after: dict[str, int]
    more: dict[str, str]


class SimulationResultJson(TypedDict):
    """The result so far.

    `unlike` is the number of orders that are left out, because their replay without the rule differs from
    the stored decision. `moved` is the number of orders for which the rule adds a supplier.
    """

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
    result["moved"] += bool(after.parts.keys() - before.parts.keys())
    if len(result["examples"]) < EXAMPLES:
        result["examples"].append(
            {
                "order_id": order_id,
                "number": number,
                "before": {str(each): part.units for each, part in sorted(before.parts.items())},
                "after": {str(each): part.units for each, part in sorted(after.parts.items())},
                "more": _more(before.amounts, after.amounts),
            }
        )


def _side() -> SideJson:
    return {"orders": 0, "fulfillments": 0, "pieces": 0, "amounts": {}, "short": 0, "unfilled": 0}


def _add(side: SideJson, replayed: Replayed) -> None:
    side["orders"] += 1
    side["fulfillments"] += replayed.fulfillments
    side["pieces"] += sum(part.units for part in replayed.parts.values())
    _add_amounts(side, replayed.amounts)
    side["short"] += replayed.short
    side["unfilled"] += replayed.unfilled


def _add_amounts(side: SideJson, amounts: Mapping[str, Decimal]) -> None:
    for currency, amount in amounts.items():
        side["amounts"][currency] = str(Decimal(side["amounts"].get(currency, "0")) + amount)


def _more(before: Mapping[str, Decimal], after: Mapping[str, Decimal]) -> dict[str, str]:
    """Return the additional cost by currency, without currencies in which the cost is equal."""
    currencies = sorted(before.keys() | after.keys())
    more = {each: after.get(each, Decimal()) - before.get(each, Decimal()) for each in currencies}
    return {currency: str(amount) for currency, amount in more.items() if amount}


def _add_part(side: SideJson, replayed: Replayed, supplier: int) -> None:
    part = replayed.parts.get(supplier)
    if part is None:
        return
    side["orders"] += 1
    side["fulfillments"] += part.fulfillments
    side["pieces"] += part.units
    _add_amounts(side, {part.currency: part.money})
    side["short"] += part.units - part.in_stock

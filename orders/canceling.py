"""Canceling an order, or some of its lines: what no supplier holds at once, the rest when they let it go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.errors import Invalid, InvalidTransition
from events.models import Event
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.models.quantities import as_items
from fulfillments.states import WORKABLE, State
from orders.change import OrderChange
from orders.models import Order, OrderLine
from orders.processing_state import ProcessingState

CANCEL_REQUESTED = "order.cancel_requested"


@dataclass
class Cancelation:
    """What came of asking: pieces canceled at once, asked back from suppliers, and shipped already."""

    canceled: int = 0
    requested: int = 0
    shipped: int = 0
    waiting: int = 0  # with suppliers that have still to answer about other pieces
    unchanged: bool = False

    @property
    def message(self) -> str:
        """What happened to how many pieces."""
        phrases = []
        if self.canceled:
            phrases.append(f"pieces canceled: {self.canceled}")
        if self.requested:
            phrases.append(f"pieces that suppliers are asked to let go: {self.requested}")
        if self.shipped:
            phrases.append(f"pieces that are shipped already and stay so: {self.shipped}")
        if self.waiting:
            phrases.append(f"pieces whose suppliers have first to answer an earlier request: {self.waiting}")
        text = "; ".join(phrases)
        return f"{text[:1].upper()}{text[1:]}."


def request_cancelation(
    change: OrderChange[Order], *, asked: Sequence[Mapping[str, Any]] | None = None, reason: str = ""
) -> Cancelation:
    """Cancel what is asked for, or all that can be (interface 4.16).

    What no supplier holds is canceled at once; the rest is asked back. Raises InvalidTransition when
    nothing is left to cancel, Invalid for lines that are not there and for more pieces than are.
    """
    work = OpenWork(change.order)
    result = Cancelation(shipped=sum(line.shipped for line in work.lines))
    if work.asked_before(asked):
        return work.unchanged(result)
    wanted = work.wanted(asked)
    if not any(wanted.values()):
        return work.nothing_left(asked, result)
    result.waiting = 0 if asked else work.waiting(work.lines)
    dropped = _drop(work.lines, wanted)
    result.canceled += sum(dropped.values())
    for fulfillment, quantities in work.by_fulfillment(wanted):
        if fulfillment.state == State.WRONG_ADDRESS:
            fulfillment.give_up(change, quantities=quantities)
            result.canceled += sum(quantities.values())
        else:
            fulfillment.request_cancelation(change, quantities=quantities, reason=reason)
            result.requested += sum(quantities.values())
    data = {"reason": reason, "canceled": result.canceled, "requested": result.requested}
    data |= {"lines": _without_empty(asked), "dropped": as_items(dropped)}
    change.record(CANCEL_REQUESTED, data=data)
    return result


def _drop(lines: list[OrderLine], wanted: dict[int, int]) -> dict[int, int]:
    """Cancel at once what was refused and nobody holds; return the pieces by line."""
    refused = [line for line in lines if line.rejected and wanted[line.pk]]
    dropped = {line.pk: min(line.rejected, wanted[line.pk]) for line in refused}
    for line in refused:
        wanted[line.pk] -= dropped[line.pk]
        line.dropped += dropped[line.pk]
        line.rejected -= dropped[line.pk]
        line.canceled += dropped[line.pk]
    OrderLine.objects.bulk_update(refused, ["dropped", "rejected", "canceled"])
    return dropped


class OpenWork:
    """An order's pieces that could still be canceled, line by line. The order is locked."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.lines = list(order.lines.order_by("pk").prefetch_related("fulfillment_lines__variant"))
        reachable = order.fulfillments.filter(state__in=[*WORKABLE, State.WRONG_ADDRESS])
        self.fulfillments = {each.pk: each for each in reachable.order_by("pk")}

    def left(self, line: OrderLine) -> int:
        """Refused by all and held by nobody, or held by a supplier that can be asked."""
        return line.rejected + sum(each.open for each in self._reachable(line))

    def waiting(self, lines: Sequence[OrderLine]) -> int:
        """Open pieces that cannot be asked for yet: their suppliers have still to answer about others."""
        held = (each for line in lines for each in line.fulfillment_lines.all())
        waiting = [each for each in held if each.fulfillment_id not in self.fulfillments]
        return sum(each.open - each.cancel_requested for each in waiting)

    def asked_before(self, asked: Sequence[Mapping[str, Any]] | None) -> bool:
        """Whether the last request named these very lines, and a supplier of them has still to answer."""
        named = [line for line in self.lines if any(_matches(line, item) for item in asked or ())]
        if not any(self._asked(line) for line in named):
            return False
        requests = Event.objects.filter(order_id=self.order.pk, type=CANCEL_REQUESTED)
        last = requests.order_by("id").last()
        return last is not None and last.data.get("lines") == _without_empty(asked)

    def wanted(self, asked: Sequence[Mapping[str, Any]] | None) -> dict[int, int]:
        """How much of each line is to be canceled; everything where nothing is named.

        Raises Invalid, naming the element, for what is no line of the order and for more than is left.
        """
        if asked is None:
            return {line.pk: self.left(line) for line in self.lines}
        wanted = {line.pk: 0 for line in self.lines}
        for index, item in enumerate(asked):
            matching = [line for line in self.lines if _matches(line, item)]
            if not matching:
                message = f"There is no such line in this order; its lines are {sorted(wanted)}."
                raise Invalid.at(f"lines[{index}]", message, "not_found")
            room = {line.pk: self.left(line) - wanted[line.pk] for line in matching}
            missing = self._missing(f"lines[{index}]", item.get("quantity"), sum(room.values()), matching)
            for line, most in room.items():
                taken = min(most, missing)
                wanted[line] += taken
                missing -= taken
        return wanted

    def _missing(self, path: str, quantity: int | None, free: int, lines: list[OrderLine]) -> int:
        """How many pieces of these lines are to be canceled now; 0 for what was asked before."""
        asked = sum(map(self._asked, lines))
        canceled = sum(line.canceled for line in lines)
        missing = quantity or free or asked + canceled
        if 0 < missing <= free:
            return missing
        if not free and 0 < missing <= asked + canceled:
            return 0
        shipped = sum(line.shipped for line in lines)
        why = f"shipped: {shipped}, asked back already: {asked}, canceled: {canceled}"
        if waiting := self.waiting(lines):
            why += f", with a supplier that has first to answer an earlier request: {waiting}"
        if not free:
            raise InvalidTransition(f"{path}: Nothing of it is left to cancel; {why}.")
        raise Invalid.at(f"{path}.quantity", f"Only {free} can still be canceled, not {missing}; {why}.")

    def by_fulfillment(self, wanted: dict[int, int]) -> Iterator[tuple[Fulfillment, dict[int, int]]]:
        """Spread what is wanted over the fulfillments that hold it."""
        spread: dict[int, dict[int, int]] = {}
        for line in self.lines:
            for held in self._reachable(line):
                taken = min(held.open, wanted[line.pk])
                if taken:
                    wanted[line.pk] -= taken
                    spread.setdefault(held.fulfillment_id, {})[held.pk] = taken
        for fulfillment_id in sorted(spread):
            yield self.fulfillments[fulfillment_id], spread[fulfillment_id]

    def unchanged(self, result: Cancelation) -> Cancelation:
        result.unchanged, result.waiting = True, self.waiting(self.lines)
        return result

    def nothing_left(self, asked: object, result: Cancelation) -> Cancelation:
        """What is canceled or asked back already is left as it is; anything else cannot be canceled."""
        pending = any(self._asked(line) for line in self.lines)
        if asked is not None or pending or self.order.processing_state == ProcessingState.CANCELED:
            return self.unchanged(result)
        raise InvalidTransition(
            f"The order is '{self.order.processing_state}' and nothing of it is left to cancel."
        )

    def _asked(self, line: OrderLine) -> int:
        return sum(each.cancel_requested for each in line.fulfillment_lines.all())

    def _reachable(self, line: OrderLine) -> list[FulfillmentLine]:
        return [each for each in line.fulfillment_lines.all() if each.fulfillment_id in self.fulfillments]


def _without_empty(asked: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """The lines that a request named, as its event keeps them: without what was left empty."""
    return [{name: value for name, value in item.items() if value} for item in asked or ()]


def _matches(line: OrderLine, item: Mapping[str, Any]) -> bool:
    if item.get("id"):
        return line.pk == int(item["id"])
    variants = [each.variant for each in line.fulfillment_lines.all()]
    if item.get("variant_id"):
        return int(item["variant_id"]) in (line.asked_variant_id, *(each.pk for each in variants))
    return str(item["sku"]) in (line.sku, *(each.sku for each in variants))

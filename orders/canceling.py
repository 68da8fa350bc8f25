"""Cancel an order or some lines: unrouted units at once, the others when their suppliers release them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from api.errors import ApiError, Invalid, InvalidTransition
from events.models import Event
from fastdb.updates import update
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.models.quantities import as_items
from fulfillments.states import REQUEST_CANCELATION, State
from orders.change import OrderChange
from orders.models import CancelRequest, Order, OrderLine
from orders.processing_state import ProcessingState

CANCEL_REQUESTED = "order.cancel_requested"


@dataclass
class Cancelation:
    """The result of a request: units canceled at once, requested from suppliers, and already shipped."""

    canceled: int = 0
    requested: int = 0
    shipped: int = 0
    unchanged: bool = False

    @property
    def message(self) -> str:
        """Return the result as a sentence."""
        phrases = []
        if self.canceled:
            phrases.append(f"units canceled: {self.canceled}")
        if self.requested:
            phrases.append(f"units that suppliers are asked to release: {self.requested}")
        if self.shipped:
            phrases.append(f"units already shipped, which cannot be canceled: {self.shipped}")
        text = "; ".join(phrases) or "nothing more was requested"
        return f"{text[:1].upper()}{text[1:]}."


class CancelConflict(ApiError):
    code, status = "cancel_conflict", 409


def request_cancelation(
    change: OrderChange[Order],
    *,
    asked: Sequence[Mapping[str, Any]] | None = None,
    reason: str = "",
    cancel_id: str = "",
) -> Cancelation:
    """Cancel the requested lines, or the whole order (interface 4.16, contract 13).

    Units that no supplier has are canceled at once; suppliers are asked to release the others. A later
    request may widen an unanswered one. A repeated `cancel_id` changes nothing.

    Raises CancelConflict if the `cancel_id` came before with other content, InvalidTransition if nothing is
    left to cancel, and Invalid for an unknown line or too large a quantity.
    """
    lines = _as_named(asked)
    known = _known(change.order, cancel_id, lines, reason) if cancel_id else None
    if known is not None:
        return Cancelation(known.canceled, known.requested, known.shipped, unchanged=True)
    work = CancelableUnits(change.order)
    result = Cancelation(shipped=sum(line.shipped for line in work.lines))
    wanted = work.wanted(asked, again=bool(cancel_id))
    if any(wanted.values()):
        data: dict[str, Any] = {"reason": reason, "lines": lines, "items": _items(wanted)}
        data["dropped"] = as_items(_cancel(change, work, wanted, result, reason))
        data |= {"canceled": result.canceled, "requested": result.requested}
        change.record(CANCEL_REQUESTED, data=data | ({"cancel_id": cancel_id} if cancel_id else {}))
    else:
        work.check_asked_before(asked)
        result.unchanged = True
    if cancel_id:
        counts = {name: getattr(result, name) for name in ("canceled", "requested", "shipped")}
        change.order.cancel_requests.create(cancel_id=cancel_id, reason=reason, lines=lines, **counts)
    return result


def _known(order: Order, cancel_id: str, lines: list[dict[str, Any]], reason: str) -> CancelRequest | None:
    """Return the earlier request with this id. Raises CancelConflict if its content was different."""
    known = order.cancel_requests.filter(cancel_id=cancel_id).first()
    if known is not None and (known.lines, known.reason) != (lines, reason):
        differing = "lines" if known.lines != lines else "reason"
        raise CancelConflict(
            f"The cancel_id '{cancel_id}' came before with other {differing}. Nothing was changed; use "
            "another cancel_id for a new request."
        )
    return known


def drop_refused(change: OrderChange[Order], *, reason: str = "") -> int:
    """Cancel the units that all suppliers refused, and return their number. The rest of the order goes on."""
    lines = list(change.order.lines.order_by("pk"))
    wanted = {line.pk: line.rejected for line in lines}
    data: dict[str, Any] = {"reason": reason, "items": _items(wanted)}
    dropped = _drop(lines, wanted)
    if dropped:
        data["lines"] = [{"id": line, "quantity": units} for line, units in dropped.items()]
        data |= {"dropped": as_items(dropped), "canceled": sum(dropped.values()), "requested": 0}
        change.record(CANCEL_REQUESTED, data=data)
    return sum(dropped.values())


def _cancel(
    change: OrderChange[Order],
    work: CancelableUnits,
    wanted: dict[int, int],
    result: Cancelation,
    reason: str,
) -> dict[int, int]:
    """Cancel unrouted units, and ask suppliers to release the rest; return the unrouted units by line."""
    dropped = _drop(work.lines, wanted)
    result.canceled += sum(dropped.values())
    for fulfillment, quantities in work.by_fulfillment(wanted):
        if fulfillment.state == State.WRONG_ADDRESS:
            fulfillment.give_up(change, quantities=quantities)
            result.canceled += sum(quantities.values())
        else:
            fulfillment.request_cancelation(change, quantities=quantities, reason=reason)
            result.requested += sum(quantities.values())
    return dropped


def _drop(lines: list[OrderLine], wanted: dict[int, int]) -> dict[int, int]:
    """Cancel unrouted units at once, refused ones before waiting ones; return the units by line."""
    unheld = [line for line in lines if line.unrouted and wanted[line.pk]]
    dropped = {line.pk: min(line.unrouted, wanted[line.pk]) for line in unheld}
    for line in unheld:
        wanted[line.pk] -= dropped[line.pk]
        line.dropped += dropped[line.pk]
        line.canceled += dropped[line.pk]
        line.waiting -= max(dropped[line.pk] - line.rejected, 0)
        line.rejected -= min(dropped[line.pk], line.rejected)
    update(unheld, ["dropped", "rejected", "waiting", "canceled"])
    return dropped


class CancelableUnits:
    """The units of a locked order that can still be canceled, line by line."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.lines = list(order.lines.order_by("pk").prefetch_related("fulfillment_lines"))
        reachable = order.fulfillments.filter(state__in=[*REQUEST_CANCELATION.sources, State.WRONG_ADDRESS])
        self.fulfillments = {each.pk: each for each in reachable.order_by("pk")}

    @cached_property
    def _called(self) -> dict[tuple[str, object], list[OrderLine]]:
        """The lines by each name that a request may use: a lookup, as an order may have 1,000 lines."""
        called: dict[tuple[str, object], list[OrderLine]] = defaultdict(list)
        for line in self.lines:
            for name in _names(line):
                called[name].append(line)
        return called

    def left(self, line: OrderLine) -> int:
        """Return how many units of a line can still be canceled at once or requested from a supplier."""
        return line.unrouted + sum(each.cancelable for each in self._reachable(line))

    def wanted(self, asked: Sequence[Mapping[str, Any]] | None, *, again: bool) -> dict[int, int]:
        """Return how many more units of each line to cancel. Without named lines, cancel everything left.

        A quantity includes the units that suppliers were already asked to release, so a repeated request
        adds nothing. With `again`, it counts only more units. Raises Invalid with the element's index for
        an unknown line, and for a quantity larger than the units left.
        """
        if asked is None:
            return {line.pk: self.left(line) for line in self.lines}
        wanted = {line.pk: 0 for line in self.lines}
        waiting = {line.pk: 0 if again else _asked(line) for line in self.lines}
        for index, item in enumerate(asked):
            matching = self._called[_name(item)]
            if not matching:
                message = f"There is no such line in this order; its lines are {sorted(wanted)}."
                raise Invalid.at(f"lines[{index}]", message, "not_found")
            self._refuse_two(index, item, matching)
            room = {line.pk: self.left(line) - wanted[line.pk] for line in matching}
            missing = self._missing(f"lines[{index}]", item.get("quantity"), room, waiting, matching)
            for line, most in room.items():
                taken = min(most, missing)
                wanted[line] += taken
                missing -= taken
        return wanted

    def _refuse_two(self, index: int, item: Mapping[str, Any], named: list[OrderLine]) -> None:
        """Refuse an element whose id, variant_id and sku name different lines."""
        for name in ("variant_id", "sku"):
            others = self._called.get((name, item[name]), named) if item.get(name) else named
            if not any(line in others for line in named):
                message = f"{name} {item[name]} is line {others[0].pk}, but this element names {named[0].pk}."
                raise Invalid.at(f"lines[{index}].{name}", message, "contradiction")

    def _missing(
        self,
        path: str,
        quantity: int | None,
        room: Mapping[int, int],
        waiting: dict[int, int],
        lines: list[OrderLine],
    ) -> int:
        """Return how many units of these lines to cancel now, beyond the units already requested."""
        free = sum(room.values())
        missing = quantity or free
        for line in room if quantity else ():
            counted = min(waiting[line], missing)
            waiting[line] -= counted
            missing -= counted
        asked = sum(map(_asked, lines))
        canceled = sum(line.canceled for line in lines)
        if (missing or quantity) and missing <= free:
            return missing
        if not free and (quantity or 1) <= asked + canceled:
            return 0
        shipped = sum(line.shipped for line in lines)
        why = f"shipped: {shipped}, already requested: {asked}, canceled: {canceled}"
        if not free:
            raise InvalidTransition(f"{path}: Nothing is left to cancel; {why}.")
        raise Invalid.at(f"{path}.quantity", f"Only {free} can still be canceled, not {missing}; {why}.")

    def by_fulfillment(self, wanted: dict[int, int]) -> Iterator[tuple[Fulfillment, dict[int, int]]]:
        """Distribute the wanted units over the fulfillments that have them."""
        spread: dict[int, dict[int, int]] = {}
        for line in self.lines:
            for held in self._reachable(line):
                taken = min(held.cancelable, wanted[line.pk])
                if taken:
                    wanted[line.pk] -= taken
                    spread.setdefault(held.fulfillment_id, {})[held.pk] = taken
        for fulfillment_id in sorted(spread):
            yield self.fulfillments[fulfillment_id], spread[fulfillment_id]

    def check_asked_before(self, asked: object) -> None:
        """Accept a repeated request, which changes nothing. Raises InvalidTransition for any other."""
        pending = any(_asked(line) for line in self.lines)
        done = pending or self.order.processing_state == ProcessingState.CANCELED
        if asked is None and not done and not self._repeated():
            raise InvalidTransition(
                f"The order is '{self.order.processing_state}' and nothing is left to cancel."
            )

    def _repeated(self) -> bool:
        """Whether the order's last event is a request for the whole order, which this request repeats."""
        last = Event.objects.filter(order_id=self.order.pk).order_by("id").last()
        return last is not None and last.type == CANCEL_REQUESTED and last.data.get("lines") == []

    def _reachable(self, line: OrderLine) -> list[FulfillmentLine]:
        return [each for each in line.fulfillment_lines.all() if each.fulfillment_id in self.fulfillments]


def _asked(line: OrderLine) -> int:
    """Return the units whose release is requested and not answered."""
    return sum(each.cancel_requested for each in line.fulfillment_lines.all())


def _as_named(asked: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """Return the lines of a request sorted and without empty fields, so that equal requests are equal."""
    named = ({name: value for name, value in item.items() if value} for item in asked or ())
    return sorted(named, key=lambda item: sorted((name, str(value)) for name, value in item.items()))


def _items(wanted: Mapping[int, int]) -> list[dict[str, int]]:
    return [{"order_line_id": line, "quantity": units} for line, units in wanted.items() if units]


def _name(item: Mapping[str, Any]) -> tuple[str, object]:
    """Return the field and value by which a request names a line: id, else variant_id, else sku."""
    name = next((each for each in ("id", "variant_id") if item.get(each)), "sku")
    return name, str(item["sku"]) if name == "sku" else int(item[name])


def _names(line: OrderLine) -> set[tuple[str, object]]:
    """Return all names of a line: the pushed ones, and its suppliers' names for the variants that fill it."""
    held = line.fulfillment_lines.all()
    variants = {line.asked_variant_id, *(each.variant_id for each in held)}
    skus = {line.sku, *(each.sku for each in held)}
    return {("id", line.pk), *(("variant_id", each) for each in variants), *(("sku", each) for each in skus)}

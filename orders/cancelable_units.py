"""The units of an order that can still be canceled, and the lines that a request names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from accounts.models import CancelBeforeCapture
from api.errors import Invalid, InvalidTransition
from events.models import Event
from fulfillments.models import Capture, Fulfillment, FulfillmentLine
from fulfillments.states import REQUEST_CANCELATION, State
from orders.models import Order, OrderLine
from orders.processing_state import STATE_EVENTS, ProcessingState

CANCEL_REQUESTED = "order.cancel_requested"


class CancelableUnits:
    """The units of a locked order that can still be canceled, by line."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.lines = list(order.lines.order_by("pk").prefetch_related("fulfillment_lines"))
        reachable = order.fulfillments.filter(state__in=[*REQUEST_CANCELATION.sources, State.WRONG_ADDRESS])
        self.fulfillments = {each.pk: each for each in reachable.order_by("pk")}

    @cached_property
    def _called(self) -> dict[tuple[str, object], list[OrderLine]]:
        """The lines by name. A name is a field of a request and its value, such as `sku` and `A-1`.

        The mapping is built once, because a search for each name would be slow with 1,000 lines.
        """
        called: dict[tuple[str, object], list[OrderLine]] = defaultdict(list)
        for line in self.lines:
            for name in _names(line):
                called[name].append(line)
        return called

    @cached_property
    def at_once(self) -> set[int]:
        """The ids of fulfillments whose units are canceled without asking the supplier.

        The supplier has not captured these fulfillments, and the partnership allows the cancellation. The
        query locks the fulfillments. A capture inserts a row that refers to a fulfillment, so a concurrent
        capture waits.
        """
        uncaptured = Fulfillment.objects.filter(
            pk__in=[*self.fulfillments],
            state=State.NEW,
            partnership__cancel_before_capture=CancelBeforeCapture.AT_ONCE,
        )
        locked = {work.pk for work in uncaptured.order_by("pk").select_for_update(of=("self",))}
        captured = Capture.objects.filter(pk__in=locked).values_list("pk", flat=True) if locked else ()
        return locked - set(captured)

    def left(self, line: OrderLine) -> int:
        """Return the number of units that can still be canceled, at once or by asking a supplier."""
        return line.unrouted + sum(each.cancelable for each in self._reachable(line))

    def wanted(self, asked: Sequence[Mapping[str, Any]] | None, *, again: bool) -> dict[int, int]:
        """Return the number of units to cancel now, by line id. If `asked` is None, these are all units left.

        A requested quantity includes the units that suppliers were already asked to release, so a repeated
        request adds nothing. With `again`, the quantity means additional units. Raises Invalid with the index
        of the element in `asked`, for an unknown line and for a quantity that is larger than the units left.
        Raises InvalidTransition if no units are left, except for a repeated request.
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

    def _refuse_two(self, index: int, item: Mapping[str, object], named: list[OrderLine]) -> None:
        """Raise Invalid if the id, the variant_id and the sku of one requested line name different lines."""
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
        """Return the number of units of these lines to cancel now, without the units already requested.

        Raises Invalid or InvalidTransition if fewer units can be canceled.
        """
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
        """Yield each fulfillment with the number of units to cancel, by the id of the fulfillment line.

        Subtract these units from `wanted`.
        """
        spread: dict[int, dict[int, int]] = {}
        for line in self.lines:
            for held in self._reachable(line):
                taken = min(held.cancelable, wanted[line.pk])
                if taken:
                    wanted[line.pk] -= taken
                    spread.setdefault(held.fulfillment_id, {})[held.pk] = taken
        for fulfillment_id in sorted(spread):
            yield self.fulfillments[fulfillment_id], spread[fulfillment_id]

    def check_pending(self, asked: Sequence[Mapping[str, object]] | None) -> None:
        """Raise InvalidTransition if no cancellation of these lines waits for a supplier's answer.

        Without this error, a request with a new `cancel_id` would succeed without a cancellation, and the
        retailer could refund shipped units.
        """
        lines = self.lines
        if asked is not None:
            lines = [line for item in asked for line in self._called[_name(item)]]
        if not any(map(_asked, lines)):
            shipped, canceled = sum(line.shipped for line in lines), sum(line.canceled for line in lines)
            raise InvalidTransition(
                f"None of these units can be canceled any more; shipped: {shipped}, canceled: {canceled}. "
                "Nothing was changed."
            )

    def check_asked_before(self, asked: object) -> None:
        """Check a request that finds no unit to cancel.

        A request for the whole order raises InvalidTransition, unless it repeats an earlier request.
        """
        pending = any(_asked(line) for line in self.lines)
        done = pending or self.order.processing_state == ProcessingState.CANCELED
        if asked is None and not done and not self._repeated():
            raise InvalidTransition(
                f"The order is '{self.order.processing_state}' and nothing is left to cancel."
            )

    def _repeated(self) -> bool:
        """Return whether the order's last event is a request to cancel the whole order.

        Events of the order's state are left out, because the request itself may have changed the state.
        """
        events = Event.objects.filter(order_id=self.order.pk).exclude(type__in=STATE_EVENTS.values())
        last = events.order_by("id").last()
        return last is not None and last.type == CANCEL_REQUESTED and last.data.get("lines") == []

    def _reachable(self, line: OrderLine) -> list[FulfillmentLine]:
        return [each for each in line.fulfillment_lines.all() if each.fulfillment_id in self.fulfillments]


def _asked(line: OrderLine) -> int:
    """Return the number of units that suppliers were asked to release, without an answer yet."""
    return sum(each.cancel_requested for each in line.fulfillment_lines.all())


def _name(item: Mapping[str, Any]) -> tuple[str, object]:
    """Return the field and value by which a request names a line: id, else variant_id, else sku."""
    name = next((each for each in ("id", "variant_id") if item.get(each)), "sku")
    return name, str(item["sku"]) if name == "sku" else int(item[name])


def _names(line: OrderLine) -> set[tuple[str, object]]:
    """Return all names of a line: the pushed names, and the names of the variants that fill the line."""
    held = line.fulfillment_lines.all()
    variants = {line.asked_variant_id, *(each.variant_id for each in held)}
    skus = {line.sku, *(each.sku for each in held)}
    return {("id", line.pk), *(("variant_id", each) for each in variants), *(("sku", each) for each in skus)}

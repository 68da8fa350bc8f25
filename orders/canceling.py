"""The cancellation of an order or of some lines.

Unrouted units are canceled at once. Most other units are canceled when their suppliers release them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from api.errors import ApiError
from fastdb.updates import update
from fulfillments.models import Rejection
from fulfillments.models.quantities import as_items
from fulfillments.states import State
from orders.cancelable_units import CANCEL_REQUESTED, CancelableUnits
from orders.change import OrderChange
from orders.erasing_copies.person import ERASED
from orders.models import CancelRequest, Order, OrderLine

WAIT_ENDED = "order.wait_ended"


@dataclass
class Cancelation:
    """The result of a request: units canceled at once, requested from suppliers, and already shipped."""

    canceled: int = 0
    requested: int = 0
    shipped: int = 0
    unchanged: bool = False

    @property
    def message(self) -> str:
        """The result as a sentence."""
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
    asked: Sequence[Mapping[str, object]] | None = None,
    reason: str = "",
    cancel_id: str = "",
) -> Cancelation:
    """Cancel the requested lines, or the whole order (interface 4.16, contract 13).

    Units that no supplier has are canceled at once. For most other units, the suppliers are asked. A later
    request may add units to an unanswered request. A repeated `cancel_id` changes nothing.

    Raises CancelConflict if the `cancel_id` was used before with other content. Raises InvalidTransition if
    nothing is left to cancel. Raises Invalid for an unknown line, or for a quantity that is too large.
    """
    lines = _as_named(asked)
    known = _known(change.order, cancel_id, lines, reason) if cancel_id else None
    if known is not None:
        return Cancelation(known.canceled, known.requested, known.shipped, unchanged=True)
    work = CancelableUnits(change.order)
    result = Cancelation(shipped=sum(line.shipped for line in work.lines))
    wanted = work.wanted(asked, again=bool(cancel_id))
    if any(wanted.values()):
        data: dict[str, object] = {"reason": reason, "lines": lines, "items": _items(wanted)}
        data["dropped"] = as_items(_cancel(change, work, wanted, result, reason))
        data |= {"canceled": result.canceled, "requested": result.requested}
        change.record(CANCEL_REQUESTED, data=data | ({"cancel_id": cancel_id} if cancel_id else {}))
    else:
        if cancel_id:
            work.check_pending(asked)
        else:
            work.check_asked_before(asked)
        result.unchanged = True
    if cancel_id:
        counts = {name: getattr(result, name) for name in ("canceled", "requested", "shipped")}
        change.order.cancel_requests.create(cancel_id=cancel_id, reason=reason, lines=lines, **counts)
    return result


def canceled_at_once(order: Order) -> int:
    """Return the number of suppliers' units that a cancellation would cancel without asking the suppliers.

    The function reads only relations that the admin prefetches, so many orders need few queries.
    """
    works = [work for work in order.fulfillments.all() if work.is_canceled_at_once]
    return sum(line.open for work in works for line in work.lines.all())


def _known(order: Order, cancel_id: str, lines: list[dict[str, object]], reason: str) -> CancelRequest | None:
    """Return the earlier request with this id, if any. Raises CancelConflict if it has other content."""
    known = order.cancel_requests.filter(cancel_id=cancel_id).first()
    # An erased reason can no longer be compared.
    is_erased = known is not None and known.reason == ERASED and order.erased_at is not None
    if known is not None and (known.lines, known.reason) != (lines, ERASED if is_erased else reason):
        differing = "lines" if known.lines != lines else "reason"
        raise CancelConflict(
            f"The cancel_id '{cancel_id}' came before with other {differing}. Nothing was changed; use "
            "another cancel_id for a new request."
        )
    return known


def drop_refused(change: OrderChange[Order], *, reason: str = "") -> int:
    """Cancel only the units that all suppliers refused. Return the number of canceled units."""
    lines = list(change.order.lines.order_by("pk"))
    wanted = {line.pk: line.rejected for line in lines}
    data: dict[str, object] = {"reason": reason, "items": _items(wanted)}
    dropped = _drop(lines, wanted)
    if dropped:
        data["lines"] = [{"id": line, "quantity": units} for line, units in dropped.items()]
        data |= {"dropped": as_items(dropped), "canceled": sum(dropped.values()), "requested": 0}
        change.record(CANCEL_REQUESTED, data=data)
    return sum(dropped.values())


def end_wait(change: OrderChange[Order], line_ids: Collection[int], *, reason: str) -> int:
    """Cancel the waiting units of these lines. Return the number of canceled units (contract 17)."""
    lines = list(change.order.lines.filter(pk__in=line_ids, waiting__gt=0).order_by("pk"))
    units = {line.pk: line.waiting for line in lines}
    for line in lines:
        line.dropped += line.waiting
        line.canceled += line.waiting
        line.waiting = 0
    update(lines, ["dropped", "waiting", "canceled"])
    canceled = sum(units.values())
    if canceled:
        data = {"reason": reason, "items": _items(units), "dropped": as_items(units), "canceled": canceled}
        change.record(WAIT_ENDED, data=data)
    return canceled


def _cancel(
    change: OrderChange[Order],
    work: CancelableUnits,
    wanted: dict[int, int],
    result: Cancelation,
    reason: str,
) -> dict[int, int]:
    """Cancel unrouted units, and ask suppliers to release their units.

    Two kinds of units with suppliers are canceled at once, too: units that wait for a right address, and
    units that the partnership allows to cancel without asking the supplier. Return the number of canceled
    unrouted units by line.
    """
    dropped = _drop(work.lines, wanted)
    result.canceled += sum(dropped.values())
    for fulfillment, quantities in work.by_fulfillment(wanted):
        if fulfillment.state == State.WRONG_ADDRESS:
            fulfillment.give_up(change, quantities=quantities)
            result.canceled += sum(quantities.values())
        elif fulfillment.pk in work.at_once:
            fulfillment.cancel_uncaptured(change, quantities=quantities)
            result.canceled += sum(quantities.values())
        else:
            fulfillment.request_cancelation(change, quantities=quantities, reason=reason)
            result.requested += sum(quantities.values())
    return dropped


def _drop(lines: list[OrderLine], wanted: dict[int, int]) -> dict[int, int]:
    """Cancel unrouted units: first rejected units, then waiting units.

    Return the number of canceled units by line. Subtract these units from `wanted`.
    """
    unheld = [line for line in lines if line.unrouted and wanted[line.pk]]
    dropped = {line.pk: min(line.unrouted, wanted[line.pk]) for line in unheld}
    for line in unheld:
        wanted[line.pk] -= dropped[line.pk]
        line.dropped += dropped[line.pk]
        line.canceled += dropped[line.pk]
        line.waiting -= max(dropped[line.pk] - line.rejected, 0)
        line.rejected -= min(dropped[line.pk], line.rejected)
    update(unheld, ["dropped", "rejected", "waiting", "canceled"])
    if unheld and not any(line.rejected for line in lines):
        # No rejected unit is left. End the rejections for a wrong address, so that routing asks their
        # suppliers again.
        for_address = Rejection.objects.filter(reason=State.WRONG_ADDRESS)
        for_address.filter(fulfillment__order_id=unheld[0].order_id).end()
    return dropped


def _as_named(asked: Sequence[Mapping[str, object]] | None) -> list[dict[str, object]]:
    """Return the lines of a request, sorted and without empty fields, to compare requests by content."""
    named = ({name: value for name, value in item.items() if value} for item in asked or ())
    return sorted(named, key=lambda item: sorted((name, str(value)) for name, value in item.items()))


def _items(wanted: Mapping[int, int]) -> list[dict[str, int]]:
    return [{"order_line_id": line, "quantity": units} for line, units in wanted.items() if units]

"""The work of one supplier, from one warehouse, for one order (contract 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import CancelationDefault, Supplier
from api.errors import Invalid, InvalidTransition
from api.prefix_search import folded
from fulfillments import states
from fulfillments.change import Change
from fulfillments.models.mechanism import MoveOutcome, check_same, last_event
from fulfillments.models.movable import MovableFulfillment
from fulfillments.models.quantities import Quantities, as_items, check_within, spread
from fulfillments.models.returned import items_to_restock
from fulfillments.states import CAPTURABLE, WORKABLE, State

# Work that operators hold back. Fulfillments that a supplier has finished stay visible to it.
HELD = Q(state__in=WORKABLE, order__held=True)


class FulfillmentQuerySet(models.QuerySet["Fulfillment"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def not_held(self) -> Self:
        """Leave out the work of orders that operators hold."""
        return self.exclude(HELD)

    def overdue(self) -> Self:
        """Keep the fulfillments whose time limit to capture, accept, ship or answer has passed."""
        late = Q(due_at__lte=Now())
        uncaptured = Q(capture_due_at__lte=Now(), state=State.NEW, capture=None)
        return self.filter(late | uncaptured).not_held()

    def with_unanswered_cancelation(self) -> Self:
        """Keep late cancellation requests of partnerships that have a default answer."""
        waiting = Q(partnership__cancelation_default=CancelationDefault.WAIT)
        return self.filter(~waiting, state=State.CANCELING, due_at__lte=Now())


class Fulfillment(MovableFulfillment):
    """The work that one supplier has with one order.

    Every move is part of a change of the order: `with fulfillment.order.change(by=actor) as change:`, then
    `fulfillment.accept(change)`.
    """

    objects = FulfillmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index("supplier", "id", name="fulfillment_of_supplier"),
            models.Index(
                "supplier", "id", condition=Q(state__in=[*CAPTURABLE]), name="fulfillment_capturable"
            ),
            models.Index("supplier", "state", "id", name="fulfillment_by_state"),
            models.Index("due_at", condition=Q(due_at__isnull=False), name="fulfillment_due"),
            models.Index(
                "capture_due_at",
                condition=Q(state=State.NEW, capture_due_at__isnull=False),
                name="fulfillment_capture_due",
            ),
            models.Index(folded("tracking_number"), condition=~Q(tracking_number=""), name="tracking_folded"),
            # Operators list open work of all suppliers. Nearly all rows are shipped, so the index skips them.
            models.Index("state", "id", condition=~Q(state=State.SHIPPED), name="fulfillment_not_shipped"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=State.values), name="fulfillment_state"),
        ]

    # --- Moves of the supplier -------------------------------------------------------------------

    def accept(self, change: Change, *, tracking_number: str = "") -> MoveOutcome:
        """Accept the work (interface 4.2). A repeated call changes nothing."""
        with self._move(change, states.ACCEPT) as move:
            if move.repeated:
                check_same("tracking_number", self.tracking_number, tracking_number)
                return MoveOutcome.UNCHANGED
            self.tracking_number = tracking_number or self.tracking_number
            move.data["tracking_number"] = self.tracking_number
        return MoveOutcome.DONE

    def ship(
        self,
        change: Change,
        *,
        tracking_number: str,
        carrier: str = "",
        quantities: Quantities | None = None,
        field: str = "lines",
    ) -> MoveOutcome:
        """Ship one parcel (interface 4.3) with these units, or with all open units.

        The same parcel again changes nothing. Raises Invalid at `field` for more units than are open.
        """
        change.check_order(self.order_id)
        if self._shipped_before(tracking_number, carrier, quantities):
            return MoveOutcome.UNCHANGED
        with self._move(change, states.SHIP) as move:
            shipped = move.within_open(quantities, field)
            if quantities is not None and not shipped:
                raise Invalid.at(field, "Must name at least one line and quantity.")
            move.ship(shipped, tracking_number)
            items = as_items(shipped)
            self.shipments.create(tracking_number=tracking_number, carrier=carrier, items=items)
            move.ends(when_open=State.ACCEPTED)
            move.data |= {"tracking_number": tracking_number, "carrier": carrier, "items": items}
        return MoveOutcome.DONE

    def ship_parcels(self, change: Change, parcels: Sequence[Mapping[str, Any]]) -> MoveOutcome:
        """Ship several parcels (contract 10). The same parcels again change nothing."""
        outcomes = set()
        for index, parcel in enumerate(parcels):
            path = f"shipments[{index}].items"
            items = spread(self._reread(change), parcel["items"], lambda line: line.open, path)
            outcomes.add(
                self.ship(
                    change,
                    tracking_number=parcel["tracking_number"],
                    carrier=parcel.get("carrier", ""),
                    quantities=items,
                    field=path,
                )
            )
        return MoveOutcome.DONE if MoveOutcome.DONE in outcomes else MoveOutcome.UNCHANGED

    def reject_items(
        self, change: Change, reason: State, items: Sequence[Mapping[str, Any]], *, reject_id: str | None
    ) -> MoveOutcome:
        """Reject some units of the lines (contract 10).

        Without a `reject_id`, the items are the total of all rejections so far, and the call rejects only the
        difference.
        """
        lines = self._reread(change)
        if reject_id is not None:
            quantities = spread(lines, items, lambda line: line.open, "items")
            return self.reject(change, reason, quantities=quantities, reject_id=reject_id)
        total = spread(lines, items, lambda line: line.open + line.rejected, "items")
        more = {line.pk: total[line.pk] - line.rejected for line in lines if line.pk in total}
        if any(quantity < 0 for quantity in more.values()):
            raise Invalid.at(
                "items", "Has fewer units than were rejected before. A rejection cannot be withdrawn."
            )
        if not any(more.values()):
            return MoveOutcome.UNCHANGED
        return self.reject(change, reason, quantities=more)

    def reject(
        self,
        change: Change,
        reason: State,
        *,
        quantities: Quantities | None = None,
        reject_id: str | None = None,
    ) -> MoveOutcome:
        """Reject these units, or all open units (interface 4.4 to 4.6).

        Units that are out of stock or have a missing sku are routed again. A wrong address waits for an
        operator.
        """
        change.check_order(self.order_id)
        if self._refused_before(reason, quantities, reject_id):
            return MoveOutcome.UNCHANGED
        with self._move(change, states.REJECTIONS[reason]) as move:
            rejected = move.within_open(quantities, "items")
            if move.repeated:
                return MoveOutcome.UNCHANGED
            if not rejected:
                raise Invalid.at("items", "Must name at least one line and quantity.")
            whole = sum(rejected.values()) == move.open
            if whole and reason == State.WRONG_ADDRESS:
                rejected = {}  # the units stay open and wait for the correct address
            else:
                move.reject(reason, rejected)
                move.ends(when_open=move.before)
            self.rejections.create(reject_id=reject_id, reason=reason, items=as_items(rejected))
            move.data |= {"reason": str(reason), "items": as_items(rejected)}
        return MoveOutcome.DONE

    def withdraw(self, change: Change, *, to_supplier: int | None = None) -> None:
        """Reassign all open units, to the supplier with that id if one is given.

        Raises InvalidTransition if the other suppliers do not have stock for all units.
        """
        with self._move(change, states.WITHDRAW) as move:
            withdrawn = move.within_open(None, "lines")
            move.withdraw(withdrawn, to_supplier)
            move.ends(when_open=move.before)
            self.rejections.create(reason=states.WITHDRAWN, items=as_items(withdrawn))
            move.data |= {"reason": states.WITHDRAWN, "items": as_items(withdrawn)}

    def record_return(
        self,
        change: Change,
        items: Sequence[Mapping[str, Any]],
        *,
        reason: str,
        return_id: str | None = None,
    ) -> MoveOutcome:
        """Record returned units, and put the items with `restock` back into stock.

        Raises Invalid for more units than were shipped. A call with a known `return_id` only
        restocks units that are not in stock yet.
        """
        lines, restock = self._reread(change), items_to_restock(items)
        known = self.returns.filter(return_id=return_id).first() if return_id is not None else None
        if known is not None:
            return known.restock(change, lines, known.to_restock(lines, restock))
        quantities = spread(lines, items, lambda line: line.returnable, "return_lines")
        check_within(
            lines, quantities, lambda line: line.returnable, "shipped and not returned", "return_lines"
        )
        for line in lines:
            line.returned += quantities.get(line.pk, 0)
        self._save_lines(lines)
        stored = as_items(quantities)
        returned = self.returns.create(return_id=return_id, reason=reason, items=stored)
        change.record("fulfillment.returned", fulfillment=self, data={"reason": reason, "items": stored})
        returned.restock(change, lines, returned.to_restock(lines, restock))
        return MoveOutcome.DONE

    def restock(self, change: Change) -> MoveOutcome:
        """Put all returned units that are not in stock yet back into stock."""
        lines = self._reread(change)
        outcomes = [
            returned.restock(change, lines, returned.not_restocked)
            for returned in self.returns.order_by("pk")
        ]
        return MoveOutcome.DONE if MoveOutcome.DONE in outcomes else MoveOutcome.UNCHANGED

    def save_invoice(self, change: Change, invoice_id: str) -> MoveOutcome:
        """Save the number of the supplier's invoice."""
        self._reread(change)
        if self.invoice_id == invoice_id:
            return MoveOutcome.UNCHANGED
        self.invoice_id, self.updated_at = invoice_id, timezone.now()
        self.save(update_fields=["invoice_id", "updated_at"])
        change.record("fulfillment.invoiced", fulfillment=self, data={"invoice_id": invoice_id})
        return MoveOutcome.DONE

    # --- Cancellation requests and their answers -------------------------------------------------

    def request_cancelation(
        self, change: Change, *, quantities: Quantities | None = None, reason: str = ""
    ) -> None:
        """Request the cancellation of these units, or of all open units.

        Until the supplier answers, another request can add units. Raises InvalidTransition if the
        cancellation of all open units is already requested.
        """
        with self._move(change, states.REQUEST_CANCELATION) as move:
            more = move.within_cancelable(quantities, "lines")
            if not more:
                raise InvalidTransition("The cancellation of all open units is already requested.")
            for line, _, quantity in move.units_by_line(more):
                line.cancel_requested += quantity
            if move.before != State.CANCELING:
                self.state_before_cancel = move.before
            requested = {line.pk: line.cancel_requested for line in move.lines}
            move.data |= {"reason": reason, "items": as_items(requested), "added": as_items(more)}

    def approve_cancelation(self, change: Change) -> MoveOutcome:
        """Cancel the units whose cancellation the retailer requested (interface 4.7)."""
        change.check_order(self.order_id)
        if self._approved_before():
            return MoveOutcome.UNCHANGED
        with self._move(change, states.APPROVE_CANCELATION) as move:
            if move.repeated:
                return MoveOutcome.UNCHANGED
            move.cancel({line.pk: line.cancel_requested for line in move.lines if line.cancel_requested})
            move.ends(when_open=State(self.state_before_cancel or State.NEW))
            self.state_before_cancel = ""
        return MoveOutcome.DONE

    def refuse_cancelation(self, change: Change) -> MoveOutcome:
        """Keep the work. The supplier captures the fulfillment again (interface 4.7)."""
        with self._move(change, states.REFUSE_CANCELATION) as move:
            if move.repeated:
                return MoveOutcome.UNCHANGED
            for line in move.lines:
                line.cancel_requested = 0
            self.state_before_cancel = ""
        return MoveOutcome.DONE

    def answer_by_default(self, change: Change) -> MoveOutcome:
        """Give the partnership's default answer for a supplier whose time to answer has passed."""
        self._reread(change)
        if self.state != State.CANCELING or self.due_at is None or self.due_at > timezone.now():
            return MoveOutcome.UNCHANGED  # the supplier has answered meanwhile
        if self.partnership.cancelation_default == CancelationDefault.APPROVE:
            return self.approve_cancelation(change)
        return self.refuse_cancelation(change)

    # --- Moves after a wrong address -------------------------------------------------------------

    def correct_address(self, change: Change) -> None:
        """Release the fulfillment after the order's address was corrected."""
        with self._move(change, states.CORRECT_ADDRESS):
            pass

    def give_up(self, change: Change, *, quantities: Quantities | None = None) -> None:
        """Cancel units that wait for a correct address. No supplier works on them, so none is asked."""
        with self._move(change, states.GIVE_UP) as move:
            move.cancel(move.within_open(quantities, "lines"))
            move.ends(when_open=State.WRONG_ADDRESS)

    # --- Repeated calls --------------------------------------------------------------------------

    def _shipped_before(self, tracking_number: str, carrier: str, quantities: Quantities | None) -> bool:
        """Tell whether this parcel is known, in every state that the fulfillment may have reached since.

        Raises InvalidTransition if the known parcel has another carrier or other units.
        """
        known = self.shipments.filter(tracking_number=tracking_number).first()
        if known is None:
            return False
        known.check_repeated(carrier, quantities, list(self.lines.all()))
        return True

    def _refused_before(self, reason: State, quantities: Quantities | None, reject_id: str | None) -> bool:
        """Tell whether this rejection is known, by its id or as the rest of a partly shipped fulfillment."""
        if reject_id is not None:
            return self.rejections.filter(reject_id=reject_id).exists()
        self.refresh_from_db(fields=["state"])
        rest_was_rejected = quantities is None and self.state == State.SHIPPED
        return rest_was_rejected and self.rejections.filter(reason=reason).exists()

    def _approved_before(self) -> bool:
        """Tell whether the last event approved the cancellation of some units, which no state shows."""
        self.refresh_from_db(fields=["state"])
        if self.state in (State.CANCELING, State.CANCELED):
            return False
        approved = (states.APPROVE_CANCELATION.event, State.CANCELING)
        return last_event(order_id=self.order_id, fulfillment_id=self.pk) == approved

"""Cancellation requests of a fulfillment, and their answers."""

from __future__ import annotations

from django.utils import timezone

from accounts.models import CancelationDefault, CancelBeforeCapture
from api.errors import InvalidTransition
from fulfillments import states
from fulfillments.change import Change
from fulfillments.models.mechanism import MoveOutcome, last_move
from fulfillments.models.movable import MovableFulfillment
from fulfillments.models.quantities import Quantities, as_items
from fulfillments.states import Move, State


class CancelableFulfillment(MovableFulfillment):
    """The moves of a fulfillment that request, approve or refuse a cancellation, or cancel units at once."""

    class Meta:
        abstract = True

    @property
    def is_canceled_at_once(self) -> bool:
        """Whether a cancellation needs no answer from the supplier.

        This is true for a fulfillment that waits for a correct address. It is also true for a fulfillment
        that was never captured, if the partnership has the setting `AT_ONCE`.
        """
        if self.state == State.WRONG_ADDRESS:
            return True
        at_once = self.partnership.cancel_before_capture == CancelBeforeCapture.AT_ONCE
        return at_once and self.state == State.NEW and not hasattr(self, "capture")

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

    def cancel_uncaptured(self, change: Change, *, quantities: Quantities) -> None:
        """Cancel units of a fulfillment that was never captured. The supplier is not asked."""
        with self._move(change, states.CANCEL_UNCAPTURED) as move:
            move.cancel(move.within_cancelable(quantities, "lines"))
            move.ends(when_open=State.NEW)

    def approve_cancelation(self, change: Change) -> MoveOutcome:
        """Cancel the units whose cancellation the retailer requested (interface 4.7)."""
        change.check_order(self.order_id)
        if self._answered_before(states.APPROVE_CANCELATION):
            return MoveOutcome.UNCHANGED
        with self._move(change, states.APPROVE_CANCELATION) as move:
            if move.repeated:
                return MoveOutcome.UNCHANGED
            move.cancel({line.pk: line.cancel_requested for line in move.lines if line.cancel_requested})
            move.ends(when_open=State(self.state_before_cancel or State.NEW))
            self.state_before_cancel = ""
        self._ship_kept(change)
        return MoveOutcome.DONE

    def refuse_cancelation(self, change: Change) -> MoveOutcome:
        """Refuse the requested cancellation. The supplier captures the fulfillment again (interface 4.7)."""
        change.check_order(self.order_id)
        if self._answered_before(states.REFUSE_CANCELATION):
            return MoveOutcome.UNCHANGED
        with self._move(change, states.REFUSE_CANCELATION) as move:
            if move.repeated:
                return MoveOutcome.UNCHANGED
            for line in move.lines:
                line.cancel_requested = 0
            self.state_before_cancel = ""
        self._ship_kept(change)
        return MoveOutcome.DONE

    def _ship_kept(self, change: Change) -> None:
        """Ship the parcels that were kept until the answer to the cancellation request."""

    def answer_by_default(self, change: Change) -> MoveOutcome:
        """Give the partnership's default answer for a supplier whose time to answer has passed."""
        self._reread(change)
        if self.state != State.CANCELING or self.due_at is None or self.due_at > timezone.now():
            return MoveOutcome.UNCHANGED  # the supplier has already answered, or has more time now
        if self.partnership.cancelation_default == CancelationDefault.APPROVE:
            return self.approve_cancelation(change)
        return self.refuse_cancelation(change)

    def give_up(self, change: Change, *, quantities: Quantities | None = None) -> None:
        """Cancel units that wait for a correct address.

        The supplier is not asked, because it does not work on these units.
        """
        with self._move(change, states.GIVE_UP) as move:
            move.cancel(move.within_open(quantities, "lines"))
            move.ends(when_open=State.WRONG_ADDRESS)

    def _answered_before(self, answer: Move) -> bool:
        """Return whether the last move was this answer to a request.

        The state does not show this: an approval can restore the state before the request, and kept parcels
        are shipped after each answer.
        """
        self.refresh_from_db(fields=["state"])
        if self.state in (State.CANCELING, State.CANCELED):
            return False
        answered = (answer.event, State.CANCELING)
        return last_move(order_id=self.order_id, fulfillment_id=self.pk) == answered

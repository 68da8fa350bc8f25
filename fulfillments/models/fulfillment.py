"""Fulfillments: what one supplier ships from one warehouse for one order (contract 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import CancelationDefault, Partnership, Supplier
from api.errors import Invalid, InvalidTransition
from api.prefix_search import folded
from fastdb.updates import update
from fulfillments import states
from fulfillments.change import Change
from fulfillments.deadlines import due_at
from fulfillments.models.line import COUNTS, FulfillmentLine
from fulfillments.models.mechanism import Moving, Outcome, check_same, last_event
from fulfillments.models.quantities import Quantities, as_items, check_within, spread
from fulfillments.models.returned import asked_to_restock
from fulfillments.states import CAPTURABLE, WORKABLE, Move, State
from inventory.models import Warehouse

MUTABLE = ["state", "state_before_cancel", "tracking_number", "invoice_id", "due_at", "updated_at"]


# Work that operators hold back; what a supplier has done already is not hidden from it.
HELD = Q(state__in=WORKABLE, order__held=True)


class FulfillmentQuerySet(models.QuerySet["Fulfillment"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def not_held(self) -> Self:
        """Without the work of orders that operators hold back."""
        return self.exclude(HELD)

    def overdue(self) -> Self:
        """What its supplier should have captured, accepted, shipped or answered by now."""
        late = Q(due_at__lte=Now())
        uncaptured = Q(capture_due_at__lte=Now(), state=State.NEW, capture=None)
        return self.filter(late | uncaptured).not_held()

    def with_unanswered_cancelation(self) -> Self:
        """Asked back, not answered in time, where the partnership says what that counts as."""
        waiting = Q(partnership__cancelation_default=CancelationDefault.WAIT)
        return self.filter(~waiting, state=State.CANCELING, due_at__lte=Now())


class Fulfillment(models.Model):
    """The work that one supplier has with one order.

    Its moves are part of a change of its order: `with fulfillment.order.change(by=actor) as change:`, then
    `fulfillment.accept(change)`. Each has four beats: lock, check, write, record; all of them stand in
    `_move`, the only code that assigns the state.
    """

    order = models.ForeignKey("orders.Order", on_delete=models.PROTECT, related_name="fulfillments")
    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="fulfillments")
    partnership = models.ForeignKey(Partnership, on_delete=models.PROTECT, related_name="+")
    warehouse = models.ForeignKey(Warehouse, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=30, choices=State.choices, default=State.NEW, editable=False)
    state_before_cancel = models.CharField(max_length=30, blank=True, editable=False)
    tracking_number = models.CharField(max_length=100, blank=True, help_text="As given on accept.")
    invoice_id = models.CharField(max_length=100, blank=True)
    due_at = models.DateTimeField(
        null=True, editable=False, help_text="When its present state is overdue, as the partnership says."
    )
    capture_due_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = FulfillmentQuerySet.as_manager()
    _counts: dict[int, tuple[int, ...]]
    order_lines: dict[int, int]  # by the id of a line that of its order's line, as a change has read them

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
            # What operators look for among all suppliers; nearly all there is has shipped.
            models.Index("state", "id", condition=~Q(state=State.SHIPPED), name="fulfillment_not_shipped"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=State.values), name="fulfillment_state"),
        ]

    def __str__(self) -> str:
        return f"fulfillment {self.pk} ({self.state})"

    # --- What its supplier does ------------------------------------------------------------------

    def accept(self, change: Change, *, tracking_number: str = "") -> Outcome:
        """Take the work on (interface 4.2). Repeating it changes nothing."""
        with self._move(change, states.ACCEPT) as move:
            if move.repeated:
                check_same("tracking_number", self.tracking_number, tracking_number)
                return Outcome.UNCHANGED
            self.tracking_number = tracking_number or self.tracking_number
            move.data["tracking_number"] = self.tracking_number
        return Outcome.DONE

    def ship(
        self,
        change: Change,
        *,
        tracking_number: str,
        carrier: str = "",
        quantities: Quantities | None = None,
        field: str = "lines",
    ) -> Outcome:
        """Send one parcel (interface 4.3): these pieces, or all that is left.

        The same parcel again changes nothing. Raises Invalid, at that field, for more pieces than are open.
        """
        change.check_order(self.order_id)
        if self._sent_before(tracking_number, carrier, quantities):
            return Outcome.UNCHANGED
        with self._move(change, states.SHIP) as move:
            sent = move.within_open(quantities, field)
            if quantities is not None and not sent:
                raise Invalid.at(field, "Must name at least one line and quantity.")
            move.ship(sent, tracking_number)
            items = as_items(sent)
            self.shipments.create(tracking_number=tracking_number, carrier=carrier, items=items)
            move.ends(when_open=State.ACCEPTED)
            move.data |= {"tracking_number": tracking_number, "carrier": carrier, "items": items}
        return Outcome.DONE

    def ship_parcels(self, change: Change, parcels: Sequence[Mapping[str, Any]]) -> Outcome:
        """Send several parcels at once (contract 10); the same parcels again change nothing."""
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
        return Outcome.DONE if Outcome.DONE in outcomes else Outcome.UNCHANGED

    def reject_items(
        self, change: Change, reason: State, items: Sequence[Mapping[str, Any]], *, reject_id: str | None
    ) -> Outcome:
        """Refuse lines in part (contract 10).

        Without a `reject_id` the items are all that is refused so far: only what is more is refused now.
        """
        lines = self._reread(change)
        if reject_id is not None:
            asked = spread(lines, items, lambda line: line.open, "items")
            return self.reject(change, reason, quantities=asked, reject_id=reject_id)
        total = spread(lines, items, lambda line: line.open + line.rejected, "items")
        more = {line.pk: total[line.pk] - line.rejected for line in lines if line.pk in total}
        if any(quantity < 0 for quantity in more.values()):
            raise Invalid.at(
                "items", "Fewer pieces than were refused before; a refusal cannot be taken back."
            )
        if not any(more.values()):
            return Outcome.UNCHANGED
        return self.reject(change, reason, quantities=more)

    def reject(
        self,
        change: Change,
        reason: State,
        *,
        quantities: Quantities | None = None,
        reject_id: str | None = None,
    ) -> Outcome:
        """Refuse these pieces, or all that is open (interface 4.4 to 4.6).

        What is out of stock or a missing sku is routed again; a wrong address waits for an operator.
        """
        change.check_order(self.order_id)
        if self._refused_before(reason, quantities, reject_id):
            return Outcome.UNCHANGED
        with self._move(change, states.REJECTIONS[reason]) as move:
            refused = move.within_open(quantities, "items")
            if move.repeated:
                return Outcome.UNCHANGED
            if not refused:
                raise Invalid.at("items", "Must name at least one line and quantity.")
            whole = sum(refused.values()) == move.open
            if whole and reason == State.WRONG_ADDRESS:
                refused = {}  # the pieces stay open: they wait for the right address
            else:
                move.reject(reason, refused)
                move.ends(when_open=move.before)
            self.rejections.create(reject_id=reject_id, reason=reason, items=as_items(refused))
            move.data |= {"reason": str(reason), "items": as_items(refused)}
        return Outcome.DONE

    def withdraw(self, change: Change, *, to_supplier: int | None = None) -> None:
        """Give what is open to another supplier, or to this one. InvalidTransition: nobody has all of it."""
        with self._move(change, states.WITHDRAW) as move:
            taken = move.within_open(None, "lines")
            move.withdraw(taken, to_supplier)
            move.ends(when_open=move.before)
            self.rejections.create(reason=states.WITHDRAWN, items=as_items(taken))
            move.data |= {"reason": states.WITHDRAWN, "items": as_items(taken)}

    def record_return(
        self,
        change: Change,
        items: Sequence[Mapping[str, Any]],
        *,
        reason: str,
        return_id: str | None = None,
    ) -> Outcome:
        """Keep what came back; never more than was shipped. What is to `restock` goes back into stock.

        With a `return_id` seen before only what is to go back into stock since is done.
        """
        lines, restock = self._reread(change), asked_to_restock(items)
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
        kept = as_items(quantities)
        returned = self.returns.create(return_id=return_id, reason=reason, items=kept)
        change.record("fulfillment.returned", fulfillment=self, data={"reason": reason, "items": kept})
        returned.restock(change, lines, returned.to_restock(lines, restock))
        return Outcome.DONE

    def restock(self, change: Change) -> Outcome:
        """Put all that came back, and has not gone yet, back into stock."""
        lines = self._reread(change)
        done = [each.restock(change, lines, each.not_restocked) for each in self.returns.order_by("pk")]
        return Outcome.DONE if Outcome.DONE in done else Outcome.UNCHANGED

    def save_invoice(self, change: Change, invoice_id: str) -> Outcome:
        """Keep the number of the supplier's invoice."""
        self._reread(change)
        if self.invoice_id == invoice_id:
            return Outcome.UNCHANGED
        self.invoice_id, self.updated_at = invoice_id, timezone.now()
        self.save(update_fields=["invoice_id", "updated_at"])
        change.record("fulfillment.invoiced", fulfillment=self, data={"invoice_id": invoice_id})
        return Outcome.DONE

    # --- What its retailer asks for, and the answers ---------------------------------------------

    def request_cancelation(
        self, change: Change, *, quantities: Quantities | None = None, reason: str = ""
    ) -> None:
        """Ask the supplier to let these pieces, or all that is open, go; more, while it has not answered.

        Raises InvalidTransition where all is asked back already.
        """
        with self._move(change, states.REQUEST_CANCELATION) as move:
            more = move.within_askable(quantities, "lines")
            if not more:
                raise InvalidTransition("All that is open of it is asked back already.")
            for line, _, quantity in move.pieces(more):
                line.cancel_requested += quantity
            if move.before != State.CANCELING:
                self.state_before_cancel = move.before
            asked = {line.pk: line.cancel_requested for line in move.lines}
            move.data |= {"reason": reason, "items": as_items(asked), "added": as_items(more)}

    def approve_cancelation(self, change: Change) -> Outcome:
        """Let go what the retailer asked back (interface 4.7)."""
        change.check_order(self.order_id)
        if self._approved_before():
            return Outcome.UNCHANGED
        with self._move(change, states.APPROVE_CANCELATION) as move:
            if move.repeated:
                return Outcome.UNCHANGED
            move.cancel({line.pk: line.cancel_requested for line in move.lines if line.cancel_requested})
            move.ends(when_open=State(self.state_before_cancel or State.NEW))
            self.state_before_cancel = ""
        return Outcome.DONE

    def refuse_cancelation(self, change: Change) -> Outcome:
        """Keep the work; it goes back into the capturing process (interface 4.7)."""
        with self._move(change, states.REFUSE_CANCELATION) as move:
            if move.repeated:
                return Outcome.UNCHANGED
            for line in move.lines:
                line.cancel_requested = 0
            self.state_before_cancel = ""
        return Outcome.DONE

    def answer_by_default(self, change: Change) -> Outcome:
        """Give the partnership's answer for a supplier that let the time to answer pass."""
        self._reread(change)
        if self.state != State.CANCELING or self.due_at is None or self.due_at > timezone.now():
            return Outcome.UNCHANGED  # it was answered meanwhile
        if self.partnership.cancelation_default == CancelationDefault.APPROVE:
            return self.approve_cancelation(change)
        return self.refuse_cancelation(change)

    # --- What becomes of a wrong address ---------------------------------------------------------

    def correct_address(self, change: Change) -> None:
        """Release it again, after the order's address was corrected."""
        with self._move(change, states.CORRECT_ADDRESS):
            pass

    def give_up(self, change: Change, *, quantities: Quantities | None = None) -> None:
        """Cancel at once what waits for a right address: no supplier works on it."""
        with self._move(change, states.GIVE_UP) as move:
            move.cancel(move.within_open(quantities, "lines"))
            move.ends(when_open=State.WRONG_ADDRESS)

    # --- The mechanism ---------------------------------------------------------------------------

    @contextmanager
    def _move(self, change: Change, move: Move) -> Iterator[Moving]:
        """Lock and re-read, check; on leaving write state and lines, and record it with its effects."""
        lines = self._reread(change)
        moving = Moving(move, State(self.state), self.warehouse_id, lines)
        if not moving.repeated:
            move.check(self.state, change.by.kind, held=change.held)
        yield moving
        if moving.repeated:
            if moving.effects:
                raise RuntimeError(f"{move.name}: a repetition records nothing, so it has no effects either.")
            return
        target = moving.target or move.target
        assert target in move.targets, f"{move.name} cannot end in {target}"
        self.state, self.updated_at = target, timezone.now()
        if target != moving.before or move is states.REQUEST_CANCELATION:  # more is asked: more time
            self.due_at = due_at(target, self.updated_at, self.partnership, change.ship_until)
        self.save(update_fields=MUTABLE)
        self._save_lines(moving.lines)
        moved: dict[str, Any] = {"from_state": moving.before, "to_state": target, "data": moving.data}
        change.record(move.event, fulfillment=self, effects=moving.effects, **moved)

    def _reread(self, change: Change) -> list[FulfillmentLine]:
        """Lock this row and read it and its lines afresh; its order is locked by the change."""
        change.check_order(self.order_id)
        self.refresh_from_db(
            fields=MUTABLE, from_queryset=type(self).objects.select_for_update(of=("self",), no_key=True)
        )
        lines = list(self.lines.order_by("pk"))
        self._counts = {line.pk: line.counts for line in lines}
        self.order_lines = {line.pk: line.order_line_id for line in lines}
        return lines

    def _save_lines(self, lines: list[FulfillmentLine]) -> None:
        """Write the lines that this change has moved pieces of, in one statement."""
        update([line for line in lines if line.counts != self._counts[line.pk]], COUNTS)

    # --- What was done before --------------------------------------------------------------------

    def _sent_before(self, tracking_number: str, carrier: str, quantities: Quantities | None) -> bool:
        """Whether this very parcel is known, whatever happened since: the rest may be asked back by now.

        Raises InvalidTransition where it was shipped by another carrier or with other pieces.
        """
        known = self.shipments.filter(tracking_number=tracking_number).first()
        if known is None:
            return False
        known.check_repeated(carrier, quantities, list(self.lines.all()))
        return True

    def _refused_before(self, reason: State, quantities: Quantities | None, reject_id: str | None) -> bool:
        """Whether this very refusal is known: its id, or the rest of a fulfillment that shipped in part."""
        if reject_id is not None:
            return self.rejections.filter(reject_id=reject_id).exists()
        self.refresh_from_db(fields=["state"])
        rest_of_shipped = quantities is None and self.state == State.SHIPPED
        return rest_of_shipped and self.rejections.filter(reason=reason).exists()

    def _approved_before(self) -> bool:
        """Whether letting a part go is the last that happened: no state of its own says so."""
        self.refresh_from_db(fields=["state"])
        if self.state in (State.CANCELING, State.CANCELED):
            return False
        approved = (states.APPROVE_CANCELATION.event, State.CANCELING)
        return last_event(order_id=self.order_id, fulfillment_id=self.pk) == approved

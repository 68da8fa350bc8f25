"""Fulfillments: what one supplier ships from one warehouse for one order (contract 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import CancelationDefault, Partnership, Supplier
from api.errors import Invalid, InvalidTransition
from catalog.models import Variant
from events.models import Event
from fulfillments.deadlines import due_at
from fulfillments.moving import (
    Moving,
    Outcome,
    Quantities,
    as_items,
    by_variant,
    check_within,
    in_words,
    spread,
)
from fulfillments.records import Capture, Rejection, Return, RoutingDecision, Shipment
from fulfillments.states import (
    ACCEPT,
    APPROVE_CANCELATION,
    CAPTURABLE,
    CORRECT_ADDRESS,
    GIVE_UP,
    REFUSE_CANCELATION,
    REJECTIONS,
    REQUEST_CANCELATION,
    SHIP,
    WORKABLE,
    Move,
    State,
)
from inventory.models import Warehouse

if TYPE_CHECKING:
    from inventory.reservations import Place

__all__ = ["Capture", "Fulfillment", "FulfillmentLine", "Rejection", "Return", "RoutingDecision", "Shipment"]

COUNTS = ["reserved", "shipped", "rejected", "canceled", "returned", "cancel_requested"]
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

    Each of its transitions has four beats: lock, check, write, record; all of them stand in `_move`, the
    only code that assigns the state.
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
            # What operators look for among all suppliers; nearly all there is has shipped.
            models.Index("state", "id", condition=~Q(state=State.SHIPPED), name="fulfillment_not_shipped"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=State.values), name="fulfillment_state"),
        ]

    def __str__(self) -> str:
        return f"fulfillment {self.pk} ({self.state})"

    def accept(self, *, by: Actor, tracking_number: str = "") -> Outcome:
        """Take the work on (interface 4.2). Repeating it changes nothing."""
        with self._move(ACCEPT, by=by) as move:
            if move.repeated:
                self._same("tracking_number", self.tracking_number, tracking_number)
                return Outcome.UNCHANGED
            self.tracking_number = tracking_number or self.tracking_number
            move.data["tracking_number"] = self.tracking_number
        return Outcome.DONE

    def ship(
        self,
        *,
        by: Actor,
        tracking_number: str,
        carrier: str = "",
        quantities: Quantities | None = None,
        field: str = "lines",
    ) -> Outcome:
        """Send one parcel (interface 4.3): these pieces, or all that is left.

        The same parcel again changes nothing. Raises Invalid, at that field, for more pieces than are open.
        """
        with self.order.changing(by=by):
            if self._sent_before(tracking_number, carrier, quantities):
                return Outcome.UNCHANGED
            with self._move(SHIP, by=by) as move:
                sent = self._within_open(move, quantities, field)
                if quantities is not None and not sent:
                    raise Invalid.at(field, "Must name at least one line and quantity.")
                for line, place, quantity in move.places(sent):
                    line.shipped += quantity
                    self._unreserve(line, place, min(line.reserved, quantity))
                    self.order.effects.taken_out[place] += quantity
                items = as_items(sent)
                self.shipments.create(tracking_number=tracking_number, carrier=carrier, items=items)
                move.ends(when_open=State.ACCEPTED)
                move.data |= {"tracking_number": tracking_number, "carrier": carrier, "items": items}
        return Outcome.DONE

    def ship_parcels(self, parcels: Sequence[Mapping[str, Any]], *, by: Actor) -> Outcome:
        """Send several parcels at once (contract 10); the same parcels again change nothing."""
        outcomes = set()
        with self.order.changing(by=by):
            for index, parcel in enumerate(parcels):
                path = f"shipments[{index}].items"
                items = spread(self._reread(), parcel["items"], lambda line: line.open, path)
                outcomes.add(
                    self.ship(
                        by=by,
                        tracking_number=parcel["tracking_number"],
                        carrier=parcel.get("carrier", ""),
                        quantities=items,
                        field=path,
                    )
                )
        return Outcome.DONE if Outcome.DONE in outcomes else Outcome.UNCHANGED

    def reject_items(
        self, reason: State, items: Sequence[Mapping[str, Any]], *, by: Actor, reject_id: str | None
    ) -> Outcome:
        """Refuse lines in part (contract 10).

        Without a `reject_id` the items are all that is refused so far: only what is more is refused now.
        """
        with self.order.changing(by=by):
            lines = self._reread()
            if reject_id is not None:
                asked = spread(lines, items, lambda line: line.open, "items")
                return self.reject(reason, by=by, quantities=asked, reject_id=reject_id)
            total = spread(lines, items, lambda line: line.open + line.rejected, "items")
            more = {line.pk: total[line.pk] - line.rejected for line in lines if line.pk in total}
            if any(quantity < 0 for quantity in more.values()):
                raise Invalid.at(
                    "items", "Fewer pieces than were refused before; a refusal cannot be taken back."
                )
            if not any(more.values()):
                return Outcome.UNCHANGED
            return self.reject(reason, by=by, quantities=more)

    def reject(
        self,
        reason: State,
        *,
        by: Actor,
        quantities: Quantities | None = None,
        reject_id: str | None = None,
    ) -> Outcome:
        """Refuse these pieces, or all that is open (interface 4.4 to 4.6).

        What is out of stock or a missing sku is routed again; a wrong address waits for an operator.
        """
        with self.order.changing(by=by):
            if self._refused_before(reason, quantities, reject_id):
                return Outcome.UNCHANGED
            with self._move(REJECTIONS[reason], by=by) as move:
                refused = self._within_open(move, quantities, "items")
                if move.repeated:
                    return Outcome.UNCHANGED
                if not refused:
                    raise Invalid.at("items", "Must name at least one line and quantity.")
                whole = sum(refused.values()) == move.open
                if whole and reason == State.WRONG_ADDRESS:
                    refused = {}  # the pieces stay open: they wait for the right address
                else:
                    self._refuse(move, reason, refused)
                self.rejections.create(reject_id=reject_id, reason=reason, items=as_items(refused))
                move.data |= {"reason": str(reason), "items": as_items(refused)}
        return Outcome.DONE

    def request_cancelation(
        self, *, by: Actor, quantities: Quantities | None = None, reason: str = ""
    ) -> None:
        """Ask the supplier to let these pieces, or all that is open, go."""
        with self._move(REQUEST_CANCELATION, by=by) as move:
            asked = self._within_open(move, quantities, "lines")
            for line, _, quantity in move.places(asked):
                line.cancel_requested = quantity
            self.state_before_cancel = self.state
            move.data |= {"reason": reason, "items": as_items(asked)}

    def approve_cancelation(self, *, by: Actor) -> Outcome:
        """Let go what the retailer asked back (interface 4.7)."""
        with self.order.changing(by=by):
            if self._approved_before():
                return Outcome.UNCHANGED
            with self._move(APPROVE_CANCELATION, by=by) as move:
                if move.repeated:
                    return Outcome.UNCHANGED
                asked = {line.pk: line.cancel_requested for line in move.lines if line.cancel_requested}
                self._cancel(move, asked)
                move.ends(when_open=State(self.state_before_cancel or State.NEW))
                self.state_before_cancel = ""
        return Outcome.DONE

    def refuse_cancelation(self, *, by: Actor) -> Outcome:
        """Keep the work; it goes back into the capturing process (interface 4.7)."""
        with self._move(REFUSE_CANCELATION, by=by) as move:
            if move.repeated:
                return Outcome.UNCHANGED
            for line in move.lines:
                line.cancel_requested = 0
            self.state_before_cancel = ""
        return Outcome.DONE

    def answer_by_default(self) -> Outcome:
        """Give the partnership's answer for a supplier that let the time to answer pass."""
        by = Actor.system("cancelation time limit")
        with self.order.changing(by=by):
            self._reread()
            if self.state != State.CANCELING or self.due_at is None or self.due_at > timezone.now():
                return Outcome.UNCHANGED  # it was answered meanwhile
            if self.partnership.cancelation_default == CancelationDefault.APPROVE:
                return self.approve_cancelation(by=by)
            return self.refuse_cancelation(by=by)

    def correct_address(self, *, by: Actor) -> None:
        """Release it again, after the order's address was corrected."""
        with self._move(CORRECT_ADDRESS, by=by):
            pass

    def give_up(self, *, by: Actor, quantities: Quantities | None = None) -> None:
        """Cancel at once what waits for a right address: no supplier works on it."""
        with self._move(GIVE_UP, by=by) as move:
            self._cancel(move, self._within_open(move, quantities, "lines"))
            move.ends(when_open=State.WRONG_ADDRESS)

    def record_return(
        self, items: Sequence[Mapping[str, Any]], *, by: Actor, reason: str, return_id: str | None = None
    ) -> Outcome:
        """Note goods that came back; never more than was shipped. A `return_id` seen before is ignored."""
        with self.order.changing(by=by):
            lines = self._reread()
            if return_id is not None and self.returns.filter(return_id=return_id).exists():
                return Outcome.UNCHANGED
            quantities = spread(lines, items, lambda line: line.returnable, "return_lines")
            check_within(
                lines, quantities, lambda line: line.returnable, "shipped and not returned", "return_lines"
            )
            for line in lines:
                line.returned += quantities.get(line.pk, 0)
            self._save_lines(lines)
            kept = as_items(quantities)
            self.returns.create(return_id=return_id, reason=reason, items=kept)
            self.order.note(
                "fulfillment.returned", by=by, fulfillment=self, data={"reason": reason, "items": kept}
            )
        return Outcome.DONE

    def save_invoice(self, invoice_id: str, *, by: Actor) -> Outcome:
        """Keep the number of the supplier's invoice."""
        with self.order.changing(by=by):
            self._reread()
            if self.invoice_id == invoice_id:
                return Outcome.UNCHANGED
            self.invoice_id, self.updated_at = invoice_id, timezone.now()
            self.save(update_fields=["invoice_id", "updated_at"])
            self.order.note("fulfillment.invoiced", by=by, fulfillment=self, data={"invoice_id": invoice_id})
        return Outcome.DONE

    # --- The mechanism ---------------------------------------------------------------------------

    @contextmanager
    def _move(self, move: Move, *, by: Actor) -> Iterator[Moving]:
        """Lock and re-read, check; on leaving write the state, its lines, its history and effects."""
        with self.order.changing(by=by):
            moving = Moving(self, move, self._reread(), repeated=False)
            moving.repeated = self.state == move.repeated_in
            if not moving.repeated:
                move.check(self.state, by.kind)
            before = self.state
            yield moving
            if moving.repeated:
                return
            target = moving.target or move.target
            assert target in move.targets, f"{move.name} cannot end in {target}"
            self.state, self.updated_at = target, timezone.now()
            if target != before:
                self.due_at = due_at(target, self.updated_at, self.partnership, self.order.ship_until)
            self.save(update_fields=MUTABLE)
            self._save_lines(moving.lines)
            self.order.note(
                move.event,
                by=by,
                fulfillment=self,
                from_state=before,
                to_state=target,
                data=moving.data,
            )

    def _reread(self) -> list[FulfillmentLine]:
        """Lock this row and read it and its lines afresh; the order is locked already."""
        self.refresh_from_db(
            fields=MUTABLE, from_queryset=type(self).objects.select_for_update(of=("self",), no_key=True)
        )
        lines = list(self.lines.select_related("variant").order_by("pk"))
        self._counts = {line.pk: line.counts for line in lines}
        return lines

    def _save_lines(self, lines: list[FulfillmentLine]) -> None:
        """Write the lines that this change has moved pieces of, in one statement."""
        changed = [line for line in lines if line.counts != self._counts[line.pk]]
        if changed:
            FulfillmentLine.objects.bulk_update(changed, COUNTS)

    def _within_open(self, move: Moving, quantities: Quantities | None, field: str) -> Quantities:
        """What is asked for, or all that is open. Raises Invalid, at that field, for more than is open."""
        if quantities is None:
            return {line.pk: line.open for line in move.lines if line.open}
        check_within(move.lines, quantities, lambda line: line.open, "open", field)
        return {pk: quantity for pk, quantity in quantities.items() if quantity}

    def _sent_before(self, tracking_number: str, carrier: str, quantities: Quantities | None) -> bool:
        """Whether this very parcel is known, whatever happened since: the rest may be asked back by now.

        Raises InvalidTransition where it was told with another carrier or other pieces.
        """
        known = self.shipments.filter(tracking_number=tracking_number).first()
        if known is None:
            return False
        self._same("carrier", known.carrier, carrier)
        lines = list(self.lines.select_related("variant"))
        sent = {item["line"]: item["quantity"] for item in known.items}
        if quantities is not None and by_variant(lines, quantities) != by_variant(lines, sent):
            told, now = (in_words(lines, pieces) for pieces in (sent, quantities))
            raise InvalidTransition(
                f"The parcel {tracking_number} was shipped before with {told}; "
                f"it cannot be repeated with {now}."
            )
        return True

    def _refused_before(self, reason: State, quantities: Quantities | None, reject_id: str | None) -> bool:
        """Whether this very refusal is known: its id, or the rest of a fulfillment that shipped in part."""
        if reject_id is not None:
            return self.rejections.filter(reject_id=reject_id).exists()
        self.refresh_from_db(fields=["state"])
        if quantities is None and self.state == State.SHIPPED:
            return self.rejections.filter(reason=reason).exists()
        return False

    def _approved_before(self) -> bool:
        """Whether the last that happened here was letting a part go: no state of its own tells that."""
        self.refresh_from_db(fields=["state"])
        if self.state in (State.CANCELING, State.CANCELED):
            return False
        happened = Event.objects.filter(order_id=self.order_id, fulfillment_id=self.pk)
        last = happened.order_by("id").last()
        return last is not None and (last.type, last.from_state) == (
            APPROVE_CANCELATION.event,
            State.CANCELING,
        )

    def _refuse(self, move: Moving, reason: State, refused: Quantities) -> None:
        effects = self.order.effects
        for line, place, quantity in move.places(refused):
            line.rejected += quantity
            self._unreserve(line, place, max(line.reserved - line.open, 0))
            if reason == State.OUT_OF_STOCK:
                effects.emptied.add(place)
            if reason == State.MISSING_SKU:
                effects.delisted.add(line.variant_id)
            if reason != State.WRONG_ADDRESS:
                effects.refused[line.order_line_id] += quantity
        move.ends(when_open=State(self.state))

    def _cancel(self, move: Moving, quantities: Quantities) -> None:
        for line, place, quantity in move.places(quantities):
            line.canceled += quantity
            line.cancel_requested = 0
            self._unreserve(line, place, max(line.reserved - line.open, 0))
        move.data["items"] = as_items(quantities)

    def _unreserve(self, line: FulfillmentLine, place: Place, quantity: int) -> None:
        line.reserved -= quantity
        self.order.effects.released[place] += quantity

    def _same(self, name: str, known: str, told: str) -> None:
        """A repetition must say what was said before. Raises InvalidTransition where it does not."""
        if told and told != known:
            before = f"with {name} '{known}'" if known else f"without a {name}"
            raise InvalidTransition(f"This was done before {before}; it cannot be repeated with '{told}'.")


class FulfillmentLine(models.Model):
    """How much of one variant for one order line; `open` is what is still to be shipped or refused."""

    fulfillment = models.ForeignKey(Fulfillment, on_delete=models.CASCADE, related_name="lines")
    order_line = models.ForeignKey("orders.OrderLine", on_delete=models.PROTECT, related_name="parts")
    variant = models.ForeignKey(Variant, on_delete=models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField()
    reserved = models.PositiveIntegerField(
        default=0, help_text="Of what is open, what stock was set aside for."
    )
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0)
    cancel_requested = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(quantity__gt=0)
                & Q(quantity__gte=F("shipped") + F("rejected") + F("canceled") + F("reserved")),
                name="fulfillment_line_adds_up",
            ),
            models.CheckConstraint(
                condition=Q(
                    quantity__gte=F("shipped") + F("rejected") + F("canceled") + F("cancel_requested")
                ),
                name="fulfillment_line_cancelable",
            ),
            models.CheckConstraint(
                condition=Q(shipped__gte=F("returned")), name="fulfillment_line_returned_of_shipped"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.variant_id}"

    @property
    def counts(self) -> tuple[int, ...]:
        """Where its pieces are: what moves change."""
        return tuple(getattr(self, name) for name in COUNTS)

    @property
    def open(self) -> int:
        return self.quantity - self.shipped - self.rejected - self.canceled

    @property
    def returnable(self) -> int:
        return self.shipped - self.returned

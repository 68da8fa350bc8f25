"""The work of one supplier, from one warehouse, for one order (contract 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
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
from fulfillments.models.cancelable import CancelableFulfillment
from fulfillments.models.conditions import AMOUNT_TO_SORT, HELD, OPEN_WORK, PAST_LIMIT
from fulfillments.models.kept_parcel import KeptParcel, all_left, keep_parcel, ship_kept_parcels, unsent_units
from fulfillments.models.mechanism import MoveOutcome, check_same
from fulfillments.models.quantities import NamedUnits, Quantities, as_items, check_within, spread
from fulfillments.models.rejection import Rejection
from fulfillments.models.returned import items_to_restock
from fulfillments.models.shipment import Shipment, is_repeated
from fulfillments.states import CAPTURABLE, WORKABLE, State
from fulfillments.tracking import identify
from inventory.expecting import refuse_past


class FulfillmentQuerySet(models.QuerySet["Fulfillment"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def not_held(self) -> Self:
        """Leave out the work of orders that operators hold."""
        return self.exclude(HELD)

    def overdue(self) -> Self:
        """Keep fulfillments past a time limit to capture, accept, ship or answer. Leave out held orders."""
        return self.filter(PAST_LIMIT).not_held()

    def with_unanswered_cancelation(self) -> Self:
        """Keep fulfillments with an overdue cancellation request, if the partnership has a default answer."""
        waiting = Q(partnership__cancelation_default=CancelationDefault.WAIT)
        return self.filter(~waiting, state=State.CANCELING, due_at__lte=Now())


class Fulfillment(CancelableFulfillment):
    """One supplier's work for one order, from one warehouse.

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
            models.Index("supplier", "id", condition=OPEN_WORK, name="fulfillment_to_answer"),
            models.Index("supplier", "state", "id", name="fulfillment_by_state"),
            models.Index("due_at", condition=Q(due_at__isnull=False), name="fulfillment_due"),
            models.Index(
                "capture_due_at",
                condition=Q(state=State.NEW, capture_due_at__isnull=False),
                name="fulfillment_capture_due",
            ),
            # Operators sort the open work of all suppliers by time limit and by amount.
            models.Index("due_at", "id", condition=OPEN_WORK, name="fulfillment_open_due"),
            models.Index(AMOUNT_TO_SORT, "id", condition=OPEN_WORK, name="fulfillment_open_amount"),
            models.Index(folded("tracking_number"), condition=~Q(tracking_number=""), name="tracking_folded"),
            # Operators list open work of all suppliers. Most rows are shipped, so the index omits these rows.
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
                check_same(move.before, "tracking_number", self.tracking_number, tracking_number)
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
        shipped_at: datetime | None = None,
    ) -> MoveOutcome:
        """Ship one parcel (interface 4.3) with these units, or with all open units.

        A repeated call changes nothing. A parcel that left before the order was held is kept until the
        release. Raises Invalid at `field` for more units than are open.
        """
        change.check_order(self.order_id)
        parcel = identify(tracking_number, carrier)
        named = parcel.carrier if parcel.is_named else ""
        if self._shipped_before(tracking_number, named, quantities):
            return MoveOutcome.UNCHANGED
        if change.held and shipped_at is not None:
            lines = self._reread(change)
            if self.state in WORKABLE:
                kept = KeptParcel(
                    fulfillment=self, tracking_number=tracking_number, carrier=named, shipped_at=shipped_at
                )
                return keep_parcel(self, change, lines, kept, quantities, field)
        with self._move(change, states.SHIP) as move:
            shipped = move.within_open(quantities, field)
            if quantities is not None and not shipped:
                raise Invalid.at(field, "Must name at least one line and quantity.")
            move.ship(shipped, tracking_number)
            items = as_items(shipped)
            shown: dict[str, object] = {
                "tracking_number": tracking_number,
                "carrier": parcel.carrier,
                "items": items,
            }
            doubts = {"is_carrier_named": parcel.is_named, "is_doubtful": parcel.is_doubtful}
            self.shipments.create(**shown, **doubts, **({"shipped_at": shipped_at} if shipped_at else {}))
            move.ends(when_open=State.ACCEPTED)
            move.data |= {**shown, **({"doubtful": True} if parcel.is_doubtful else {})}
        return MoveOutcome.DONE

    def ship_parcels(self, change: Change, parcels: Sequence[Mapping[str, Any]]) -> MoveOutcome:
        """Ship several parcels (contract 10). A repeated call changes nothing."""
        outcomes = set()
        for index, parcel in enumerate(parcels):
            path = f"shipments[{index}].items"
            items = spread(self._reread(change), parcel["items"], unsent_units(self), path)
            outcomes.add(
                self.ship(
                    change,
                    tracking_number=parcel["tracking_number"],
                    carrier=parcel.get("carrier", ""),
                    quantities=items,
                    field=path,
                    shipped_at=parcel.get("shipped_at"),
                )
            )
        return next((each for each in MoveOutcome if each in outcomes), MoveOutcome.UNCHANGED)

    def correct_shipment(
        self, change: Change, shipment: Shipment, *, tracking_number: str = "", carrier: str | None = None
    ) -> MoveOutcome:
        """Correct the tracking number or the carrier of a parcel. The same values change nothing."""
        self._reread(change)
        shipment.refresh_from_db(from_queryset=self.shipments.select_for_update())
        corrected = shipment.correct(tracking_number or shipment.tracking_number, carrier)
        if not corrected:
            return MoveOutcome.UNCHANGED
        self.updated_at = timezone.now()
        self.save(update_fields=["updated_at"])
        change.record(states.CORRECTED, fulfillment=self, data=corrected)
        return MoveOutcome.DONE

    def reject_items(
        self,
        change: Change,
        reason: State,
        items: Sequence[Mapping[str, object]],
        *,
        reject_id: str | None,
        expected_at: date | None = None,
    ) -> MoveOutcome:
        """Reject some units of the lines (contract 10).

        Without a `reject_id`, the items are the total of the supplier's rejections so far, and the call
        rejects only the difference. Units that an operator reassigned are not part of the total.
        """
        lines = self._reread(change)
        if reject_id is not None:
            quantities = spread(lines, items, lambda line: line.open, "items")
            return self.reject(
                change, reason, quantities=quantities, reject_id=reject_id, expected_at=expected_at
            )
        withdrawn = self.rejections.filter(reason=states.WITHDRAWN).units()
        before = {line.pk: line.rejected - withdrawn[line.pk] for line in lines}
        total = spread(lines, items, lambda line: line.open + before[line.pk], "items")
        units = {pk: quantity - before[pk] for pk, quantity in total.items()}
        more = NamedUnits(units, total.fields)
        if any(quantity < 0 for quantity in more.values()):
            raise Invalid.at(
                "items", "Has fewer units than were rejected before. A rejection cannot be withdrawn."
            )
        if not any(more.values()):
            return MoveOutcome.UNCHANGED
        return self.reject(change, reason, quantities=more, expected_at=expected_at)

    def reject(
        self,
        change: Change,
        reason: State,
        *,
        quantities: Quantities | None = None,
        reject_id: str | None = None,
        expected_at: date | None = None,
    ) -> MoveOutcome:
        """Reject these units, or all open units (interface 4.4 to 4.6).

        Units that are out of stock or have a missing sku are routed again. Units with a wrong address wait
        for an operator. Raises InvalidDate for a past `expected_at`, unless the call repeats a rejection.
        """
        change.check_order(self.order_id)
        if self._refused_before(reason, quantities, reject_id):
            return MoveOutcome.UNCHANGED
        refuse_past(expected_at)
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
                if expected_at is not None and reason == State.OUT_OF_STOCK:
                    move.expect(rejected, expected_at)
                    move.data["expected_at"] = expected_at.isoformat()
                move.ends(when_open=move.before)
            self.rejections.create(reject_id=reject_id, reason=reason, items=as_items(rejected))
            move.data |= {"reason": str(reason), "items": as_items(rejected)}
        return MoveOutcome.DONE

    def withdraw(
        self, change: Change, *, to_supplier: int | None = None, quantities: Quantities | None = None
    ) -> None:
        """Reassign these units, or all open units: to the supplier `to_supplier`, or as routing decides.

        Units in kept parcels stay. `to_supplier` is asked even if it refused units of the order before.
        Raises InvalidTransition if the other suppliers do not have stock for all these units.
        """
        with self._move(change, states.WITHDRAW) as move:
            withdrawn = move.within(quantities, unsent_units(self), "open and in no kept parcel", "lines")
            if not withdrawn:
                raise InvalidTransition(all_left(self))
            if to_supplier is not None:
                Rejection.objects.of_supplier(self.order_id, to_supplier).end()
            move.withdraw(withdrawn, to_supplier)
            move.ends(when_open=move.before)
            self.rejections.create(reason=states.WITHDRAWN, items=as_items(withdrawn))
            move.data |= {"reason": states.WITHDRAWN, "items": as_items(withdrawn)}

    def record_return(
        self,
        change: Change,
        items: Sequence[Mapping[str, object]],
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
        self.touch()
        stored = as_items(quantities)
        returned = self.returns.create(return_id=return_id, reason=reason, items=stored)
        change.record("fulfillment.returned", fulfillment=self, data={"reason": reason, "items": stored})
        returned.restock(change, lines, returned.to_restock(lines, restock))
        return MoveOutcome.DONE

    def restock(self, change: Change, *, only: int | None = None) -> MoveOutcome:
        """Put returned units back into stock, unless they are back already. `only` is the id of a return."""
        lines = self._reread(change)
        returns = self.returns.order_by("pk") if only is None else self.returns.filter(pk=only)
        outcomes = [returned.restock(change, lines, returned.not_restocked) for returned in returns]
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

    def correct_address(self, change: Change) -> None:
        """Release the fulfillment after the order's address was corrected."""
        with self._move(change, states.CORRECT_ADDRESS):
            pass

    def _ship_kept(self, change: Change) -> None:
        if not change.held:
            ship_kept_parcels(self, change)

    def _shipped_before(self, tracking_number: str, carrier: str, quantities: Quantities | None) -> bool:
        """Return whether this parcel was shipped before, even if the state has changed since.

        Raises InvalidTransition if each parcel with this number has another carrier or other units.
        """
        return is_repeated(
            self._shipments_of(tracking_number),
            lambda parcel: parcel.check_reported(
                tracking_number, self.state, carrier, quantities, list(self.lines.all())
            ),
        )

    def shipment_of(self, tracking_number: str) -> Shipment | None:
        """Return the parcel that has this tracking number, or else had it before a correction."""
        return next(iter(self._shipments_of(tracking_number)), None)

    def _shipments_of(self, tracking_number: str) -> list[Shipment]:
        named = Q(tracking_number=tracking_number) | Q(reported_numbers__contains=[tracking_number])
        return sorted(self.shipments.filter(named), key=lambda each: each.tracking_number != tracking_number)

    def _refused_before(self, reason: State, quantities: Quantities | None, reject_id: str | None) -> bool:
        """Return whether this call repeats a rejection.

        With `reject_id`, look for a rejection with this id. Without the id, only a call without quantities
        can repeat a rejection: the fulfillment is then shipped, and has a rejection with the same reason.
        """
        if reject_id is not None:
            return self.rejections.filter(reject_id=reject_id).exists()
        self.refresh_from_db(fields=["state"])
        rest_was_rejected = quantities is None and self.state == State.SHIPPED
        return rest_was_rejected and self.rejections.filter(reason=reason).exists()

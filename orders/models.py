"""Orders: what a retailer wants, and what became of each line (contract 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.actors import Actor
from accounts.models import Retailer
from api.inserting import insert
from events.models import Event
from events.recording import draft
from fulfillments.effects import Effects, refused_for_address
from fulfillments.models import Fulfillment
from fulfillments.moving import Outcome, as_items
from fulfillments.states import State
from orders.canceling import CANCEL_REQUESTED, Cancelation, OpenWork, as_told
from orders.settling import ProcessingState, recount, stamp


class OrderType(models.TextChoices):
    DROPSHIP = "dropship"
    REPLENISH = "replenish"


class OrderQuerySet(models.QuerySet["Order"]):
    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)


class Order(models.Model):
    """One order of one retailer."""

    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, related_name="orders")
    retailer_order_id = models.CharField(max_length=100)
    type = models.CharField(max_length=20, choices=OrderType.choices, default=OrderType.DROPSHIP)
    id_in_source = models.CharField(max_length=100, blank=True)
    billing_address = models.JSONField(default=dict)
    shipping_address = models.JSONField(default=dict)
    shipping_method_code = models.CharField(max_length=100, blank=True)
    shipping_paid = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    shipping_tax = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    sales_division_code = models.CharField(max_length=100, blank=True)
    sales_order_number = models.CharField(max_length=100, blank=True)
    gift_message = models.TextField(blank=True)
    is_gift = models.BooleanField(default=False)
    ship_until = models.DateField(null=True)
    original_created_at = models.DateField(null=True)
    notes = models.JSONField(default=list)
    content_digest = models.CharField(max_length=64, editable=False)

    held = models.BooleanField(
        default=False, help_text="Not to be captured yet: its fulfillments are pending."
    )
    processing_state = models.CharField(
        max_length=20, choices=ProcessingState.choices, default=ProcessingState.RECEIVED, editable=False
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(
        null=True, editable=False, help_text="Stamped as the last act of each change (the polling promise)."
    )

    objects = OrderQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint("retailer", "retailer_order_id", name="order_once"),
            models.UniqueConstraint("retailer", "updated_at", name="order_stamp_once"),
            models.CheckConstraint(
                condition=Q(processing_state__in=ProcessingState.values), name="order_state"
            ),
            models.CheckConstraint(condition=Q(type__in=OrderType.values), name="order_type"),
        ]
        indexes = [
            # What a retailer may filter its list by; none may read through its past.
            models.Index("retailer", "processing_state", "updated_at", name="order_by_state"),
            models.Index("retailer", "created_at", name="order_by_creation"),
            models.Index(
                "retailer",
                "sales_order_number",
                condition=~Q(sales_order_number=""),
                name="order_by_sales_number",
            ),
            # The type first: operators look for one among all retailers.
            models.Index("type", "retailer", "updated_at", name="order_by_type"),
            models.Index(
                "processing_state",
                "id",
                condition=~Q(processing_state__in=["completed", "canceled"]),
                name="order_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.retailer_order_id} ({self.processing_state})"

    # --- Changing an order -----------------------------------------------------------------------

    effects: Effects
    _events: list[Event]
    _changing = False

    @contextmanager
    def changing(self, *, by: Actor) -> Iterator[None]:
        """One change: the order is locked and read afresh, and settled once, when the outermost ends.

        On leaving: stock effects, line counts, state, history, and last the stamp (docs/architecture.md).
        """
        if self._changing:
            yield
            return
        with transaction.atomic():
            self.refresh_from_db(
                fields=["held", "processing_state", "shipping_address"],
                from_queryset=Order.objects.select_for_update(no_key=True),
            )
            with self.collecting():
                yield
                if self._events:
                    self.effects.apply(self, by=by)
                    self.settle(recount(self.pk))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect the effects and events of one change."""
        self._changing, self.effects, self._events = True, Effects(), []
        try:
            yield
        finally:
            self._changing = False

    def note(self, type: str, *, by: Actor, fulfillment: Fulfillment | None = None, **fields: Any) -> None:  # noqa: A002
        """Remember an event of this change; it is written with the change."""
        if fulfillment is not None:
            fields |= {"fulfillment_id": fulfillment.pk, "supplier_id": fulfillment.supplier_id}
        fields |= {"order_id": self.pk, "retailer_id": self.retailer_id}
        self._events.append(draft(type, by=by, **fields))

    def settle(self, state: ProcessingState) -> None:
        """Take on the derived state, write the history, and stamp the order under its retailer's clock."""
        before = self.processing_state if self.updated_at else None
        self.processing_state = state
        insert(self._events)
        self.updated_at = stamp(self.pk, self.retailer_id, before, state)

    # --- What a retailer does --------------------------------------------------------------------

    def request_cancelation(
        self, *, by: Actor, asked: Sequence[Mapping[str, Any]] | None = None, reason: str = ""
    ) -> Cancelation:
        """Cancel what is asked for, or all that can be (interface 4.16).

        What no supplier holds is canceled at once; the rest is asked back. Raises InvalidTransition when
        nothing is left to cancel, Invalid for lines that are not there and for more pieces than are.
        """
        with self.changing(by=by):
            work = OpenWork(self)
            result = Cancelation(shipped=sum(line.shipped for line in work.lines))
            if work.asked_before(asked):
                return work.unchanged(result)
            wanted = work.wanted(asked)
            if not any(wanted.values()):
                return work.nothing_left(asked, result)
            result.waiting = 0 if asked else work.waiting(work.lines)
            dropped = self._drop(work.lines, wanted)
            result.canceled += sum(dropped.values())
            for fulfillment, parts in work.by_fulfillment(wanted):
                if fulfillment.state == State.WRONG_ADDRESS:
                    fulfillment.give_up(by=by, quantities=parts)
                    result.canceled += sum(parts.values())
                else:
                    fulfillment.request_cancelation(by=by, quantities=parts, reason=reason)
                    result.requested += sum(parts.values())
            told = {"reason": reason, "canceled": result.canceled, "requested": result.requested}
            told |= {"lines": as_told(asked), "dropped": as_items(dropped)}
            self.note(CANCEL_REQUESTED, by=by, data=told)
        return result

    def _drop(self, lines: list[OrderLine], wanted: dict[int, int]) -> dict[int, int]:
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

    # --- What an operator does -------------------------------------------------------------------

    def hold(self, *, by: Actor) -> Outcome:
        """Keep its fulfillments from being captured."""
        return self._set_held(True, by=by, event="order.held")

    def release(self, *, by: Actor) -> Outcome:
        """Let its fulfillments be captured."""
        return self._set_held(False, by=by, event="order.released")

    def _set_held(self, held: bool, *, by: Actor, event: str) -> Outcome:  # noqa: FBT001
        with self.changing(by=by):
            if self.held == held:
                return Outcome.UNCHANGED
            self.held = held
            self.save(update_fields=["held"])
            self.note(event, by=by)
        return Outcome.DONE

    def correct_address(self, address: Mapping[str, str], *, by: Actor) -> None:
        """Give the order another shipping address, and release what waited for it or was refused for it."""
        with self.changing(by=by):
            before = self.shipping_address
            self.shipping_address = {**before, **address}
            self.save(update_fields=["shipping_address"])
            self.note("order.address_corrected", by=by, data={"changed": sorted(address)})
            for fulfillment in self.fulfillments.filter(state=State.WRONG_ADDRESS).order_by("pk"):
                fulfillment.order = self
                fulfillment.correct_address(by=by)
            self.effects.refused += refused_for_address(self)

    def route_again(self, *, by: Actor) -> int:
        """Look once more for suppliers of what was refused; return how many pieces that is."""
        with self.changing(by=by):
            for line in self.lines.filter(rejected__gt=0):
                self.effects.refused[line.pk] += line.rejected
            pieces = self.effects.refused.total()
            if pieces:
                self.note("order.routed_again", by=by, data={"quantity": pieces})
        return pieces


class RetailerClock(models.Model):
    """A retailer's last `updated_at`, and how many of its orders there are of each kind.

    Locked last, from the stamp to the commit: so stamps become visible in ascending order, and never tie.
    """

    retailer = models.OneToOneField(
        Retailer, on_delete=models.CASCADE, primary_key=True, related_name="clock"
    )
    last = models.DateTimeField(db_default=Now())
    completed = models.BigIntegerField(default=0)
    canceled = models.BigIntegerField(default=0)
    pending = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(completed__gte=0, canceled__gte=0, pending__gte=0), name="clock_counts"
            )
        ]

    def __str__(self) -> str:
        return f"clock of {self.retailer_id}"


class OrderLine(models.Model):
    """One line of an order: quantity = open + shipped + rejected + canceled, always.

    `open` is with suppliers; `rejected` is what was refused and nobody else has taken.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    position = models.PositiveIntegerField()
    sku = models.CharField(max_length=100, blank=True)
    upc = models.CharField(max_length=14, blank=True)
    asked_supplier_id = models.BigIntegerField(null=True, help_text="The supplier_id that was pushed.")
    asked_variant_id = models.BigIntegerField(null=True, help_text="The variant_id that was pushed.")
    quantity = models.PositiveIntegerField()
    billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    tax_billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    notes = models.JSONField(default=list)

    open = models.PositiveIntegerField(default=0)
    reserved = models.PositiveIntegerField(default=0)
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    dropped = models.PositiveIntegerField(
        default=0, help_text="Of what is canceled, what no supplier held any more."
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint("order", "position", name="order_line_once"),
            models.CheckConstraint(
                condition=Q(quantity__gt=0)
                & Q(quantity=F("open") + F("shipped") + F("rejected") + F("canceled"))
                & Q(open__gte=F("reserved")),
                name="order_line_adds_up",
            ),
            models.CheckConstraint(condition=Q(canceled__gte=F("dropped")), name="order_line_dropped"),
        ]

    def __str__(self) -> str:
        return f"line {self.position} of order {self.order_id}"

    @property
    def pinned(self) -> bool:
        """Whether the retailer chose the supplier; such a line is never routed elsewhere."""
        return self.asked_supplier_id is not None or self.asked_variant_id is not None

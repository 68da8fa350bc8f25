"""The columns of a fulfillment, and the four steps of every move: lock, check, write, record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Partnership, Supplier, default_currency
from fastdb.updates import update
from fulfillments import states
from fulfillments.change import Change
from fulfillments.deadlines import capture_due_at, due_at, next_due_at
from fulfillments.models.line import COUNTS, FulfillmentLine
from fulfillments.models.mechanism import MoveInProgress
from fulfillments.states import WORKABLE, Move, State
from inventory.models import Warehouse

MUTABLE = [
    *("state", "state_before_cancel", "tracking_number", "invoice_id"),
    *("due_at", "capture_due_at", "updated_at"),
]


class MovableFulfillment(models.Model):
    """The base of `Fulfillment`: its columns, and `_move`, the only code that assigns the state."""

    order = models.ForeignKey("orders.Order", on_delete=models.PROTECT, related_name="fulfillments")
    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="fulfillments")
    partnership = models.ForeignKey(Partnership, on_delete=models.PROTECT, related_name="+")
    warehouse = models.ForeignKey(Warehouse, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=30, choices=State.choices, default=State.NEW, editable=False)
    state_before_cancel = models.CharField(max_length=30, blank=True, editable=False)
    tracking_number = models.CharField(max_length=100, blank=True, help_text="As given on accept.")
    currency = models.CharField(
        max_length=3,
        default=default_currency,
        db_default=settings.CURRENCY,
        editable=False,
        help_text="The currency of the agreed prices: the supplier's at placement.",
    )
    # The sum of the agreed prices of all units. Operators sort open work by this amount.
    agreed_total = models.DecimalField(max_digits=24, decimal_places=4, null=True, editable=False)
    invoice_id = models.CharField(max_length=100, blank=True)
    due_at = models.DateTimeField(
        null=True, editable=False, help_text="The time limit of the present state, from the partnership."
    )
    capture_due_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    _counts: dict[int, tuple[int, ...]]
    order_lines: dict[int, int]  # order line ids by fulfillment line id; set by `_reread`

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"fulfillment {self.pk}"

    @property
    def is_held(self) -> bool:
        """Whether the supplier does not see this work, because operators hold the order."""
        return self.state in WORKABLE and self.order.held

    @property
    def next_due_at(self) -> datetime | None:
        """The moment by which the supplier has to take the next step. None without a time limit."""
        captured = getattr(self, "capture", None) is not None
        return next_due_at(self.state, self.due_at, self.capture_due_at, captured=captured)

    @property
    def is_overdue(self) -> bool:
        """Whether the supplier missed a time limit. Held work is not overdue."""
        due = self.next_due_at
        return due is not None and due <= timezone.now() and not self.is_held

    @contextmanager
    def _move(self, change: Change, move: Move) -> Iterator[MoveInProgress]:
        """Lock the rows and check the move, then let the caller change the move and its lines.

        On exit, write the state and the lines, and record the event with its effects.
        """
        lines = self._reread(change)
        moving = MoveInProgress(move, State(self.state), self.warehouse_id, lines)
        if not moving.repeated:
            move.check(self.state, change.by.kind, held=change.held)
        yield moving
        if moving.repeated:
            if moving.effects:
                raise RuntimeError(f"{move.name}: a repetition records no event, so it may have no effects.")
            return
        target = moving.target or move.target
        assert target in move.targets, f"{move.name} cannot end in {target}"
        self.state, self.updated_at = target, timezone.now()
        # A second cancellation request adds units, so the supplier gets a new time limit for the answer.
        if target != moving.before or move is states.REQUEST_CANCELATION:
            self.due_at = due_at(target, self.updated_at, self.partnership, change.ship_until)
        if target == State.NEW != moving.before:
            self.capture_due_at = capture_due_at(self.updated_at, self.partnership)
        self.save(update_fields=MUTABLE)
        self._save_lines(moving.lines)
        moved: dict[str, object] = {"from_state": moving.before, "to_state": target, "data": moving.data}
        change.record(move.event, fulfillment=self, effects=moving.effects, **moved)

    def _reread(self, change: Change) -> list[FulfillmentLine]:
        """Lock this row, and read the row and its lines again. The change has already locked the order."""
        change.check_order(self.order_id)
        self.refresh_from_db(
            fields=MUTABLE,
            from_queryset=type(self)._default_manager.select_for_update(of=("self",), no_key=True),
        )
        lines = list(FulfillmentLine.objects.filter(fulfillment_id=self.pk).order_by("pk"))
        self._counts = {line.pk: line.counts for line in lines}
        self.order_lines = {line.pk: line.order_line_id for line in lines}
        return lines

    def touch(self) -> None:
        """Note the time of a change that is no move, so that its readers see a newer `updated_at`."""
        self.updated_at = timezone.now()
        self.save(update_fields=["updated_at"])

    def _save_lines(self, lines: list[FulfillmentLine]) -> None:
        """Write the lines whose counts have changed, in one statement."""
        update([line for line in lines if line.counts != self._counts[line.pk]], COUNTS)

"""Orders: what a retailer wants, and what became of each line (contract 4)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Self

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Now

from accounts.models import Retailer, WhenShort
from api.prefix_search import COLLATION
from fulfillments.planning.candidates import WantedLine
from orders.change import ChangeableOrder
from orders.processing_state import FINISHED, ProcessingState

NO_DEADLINE = date.max
"""Where an order without a `ship_until` stands among the others."""


class OrderType(models.TextChoices):
    DROPSHIP = "dropship"
    REPLENISH = "replenish"


class OrderQuerySet(models.QuerySet["Order"]):
    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)


class Order(ChangeableOrder):
    """One order of one retailer; its `retailer`, `ship_until`, state and stamp stand in `orders.change`."""

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
    original_created_at = models.DateField(null=True)
    notes = models.JSONField(default=list)
    when_short = models.CharField(
        max_length=12,
        choices=WhenShort.choices,
        null=True,
        help_text="What becomes of what is short; where it says nothing, the partnership's setting counts.",
    )
    content_digest = models.CharField(max_length=64, editable=False)

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    erased_at = models.DateTimeField(
        null=True, editable=False, help_text="When its consumer's personal data was erased."
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
            models.CheckConstraint(condition=Q(when_short__in=WhenShort.values), name="order_when_short"),
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
            models.Index("id", condition=Q(has_unknown_country=True), name="order_unknown_country"),
            models.Index("id", condition=Q(held=True), name="order_held"),
            models.Index(
                "processing_state",
                "id",
                condition=~Q(processing_state__in=[*FINISHED]),
                name="order_open",
            ),
            # What waits for operators, by deadline; those without one come last.
            models.Index(
                Coalesce("ship_until", Value(NO_DEADLINE)),
                "id",
                condition=~Q(processing_state__in=[*FINISHED]),
                name="order_open_due",
            ),
            # Where very many are open, those that are held or go nowhere known are read by deadline, too.
            models.Index(
                Coalesce("ship_until", Value(NO_DEADLINE)),
                "id",
                condition=Q(held=True) & ~Q(processing_state__in=[*FINISHED]),
                name="order_held_due",
            ),
            models.Index(
                Coalesce("ship_until", Value(NO_DEADLINE)),
                "id",
                condition=Q(has_unknown_country=True) & ~Q(processing_state__in=[*FINISHED]),
                name="order_no_country_due",
            ),
            models.Index(
                "updated_at",
                condition=Q(processing_state__in=[*FINISHED], erased_at=None),
                name="order_to_erase",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.retailer_order_id} ({self.processing_state})"

    def lock(self) -> None:
        self.refresh_from_db(
            fields=["held", "processing_state", "shipping_address", "has_unknown_country"],
            from_queryset=Order.objects.select_for_update(no_key=True),
        )

    def lines_in(self, line_ids: Iterable[int]) -> list[WantedLine]:
        rows = self.lines.filter(pk__in=line_ids).values_list(*WantedLine._fields)
        return [WantedLine(*row) for row in rows]


class CancelRequest(models.Model):
    """A request to cancel that its retailer named: under this name it is carried out once, for ever."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="cancel_requests")
    cancel_id = models.CharField(max_length=100, help_text="The retailer's own; seen once.")
    reason = models.CharField(max_length=500, blank=True)
    lines = models.JSONField(default=list, help_text="As they were named; none is the whole order.")
    canceled = models.PositiveIntegerField(help_text="Pieces that were canceled at once.")
    requested = models.PositiveIntegerField(help_text="Pieces that suppliers were asked to let go.")
    shipped = models.PositiveIntegerField(help_text="Pieces that were shipped already.")
    requested_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("order", "cancel_id", name="cancel_request_once")]

    def __str__(self) -> str:
        return self.cancel_id


class SearchEntry(models.Model):
    """A text that an order is found by, in small letters: its numbers, its customer's names and e-mail.

    Written by a trigger, so that no way of writing forgets it, and apart from the order, which is rewritten
    with each change: an index there would be written each time, too. What an address said before it was
    corrected still finds the order.
    """

    pk = models.CompositePrimaryKey("text", "order_id")
    text = models.CharField(max_length=100, db_collation=COLLATION)
    order_id = models.BigIntegerField()
    kind = models.CharField(max_length=20, help_text="What the text is, in words.")

    class Meta:
        ordering = ["text", "order_id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


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
    """One line of an order: quantity = open + waiting + shipped + rejected + canceled, always.

    `open` is with suppliers; `waiting` is with nobody until stock arrives, as the order or a partnership
    wants it; `rejected` is what was refused and nobody else has taken.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    position = models.PositiveIntegerField()
    sku = models.CharField(max_length=100, blank=True)
    upc = models.CharField(max_length=14, blank=True)
    title = models.CharField(
        max_length=500, blank=True, help_text="Of the variant that filled it first, as it was when pushed."
    )
    asked_supplier_id = models.BigIntegerField(null=True, help_text="The supplier_id that was pushed.")
    asked_variant_id = models.BigIntegerField(null=True, help_text="The variant_id that was pushed.")
    quantity = models.PositiveIntegerField()
    billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    tax_billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    notes = models.JSONField(default=list)

    open = models.PositiveIntegerField(default=0)
    reserved = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0, db_default=0)
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0, help_text="Of what is shipped, what came back.")
    dropped = models.PositiveIntegerField(
        default=0, help_text="Of what is canceled, what no supplier held any more."
    )
    waiting_since = models.DateTimeField(
        null=True, editable=False, help_text="Since when some of it has no stock set aside, if any has none."
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint("order", "position", name="order_line_once"),
            models.CheckConstraint(
                condition=Q(quantity__gt=0)
                & Q(quantity=F("open") + F("waiting") + F("shipped") + F("rejected") + F("canceled"))
                & Q(open__gte=F("reserved")),
                name="order_line_adds_up",
            ),
            models.CheckConstraint(condition=Q(canceled__gte=F("dropped")), name="order_line_dropped"),
            models.CheckConstraint(
                condition=Q(shipped__gte=F("returned")), name="order_line_returned_of_shipped"
            ),
        ]
        # Who waits for what: few of all lines, found by what they ask for, and listed for operators.
        indexes = [
            models.Index("id", condition=Q(waiting_since__isnull=False), name="order_line_waiting"),
            models.Index("sku", condition=Q(waiting_since__isnull=False), name="order_line_waiting_sku"),
            models.Index("upc", condition=Q(waiting_since__isnull=False), name="order_line_waiting_upc"),
            models.Index(
                "asked_variant_id",
                condition=Q(waiting_since__isnull=False),
                name="order_line_waiting_variant",
            ),
        ]

    def __str__(self) -> str:
        return f"line {self.position} of order {self.order_id}"

    @property
    def name(self) -> str:
        """What people call what was asked for."""
        return self.sku or self.upc or self.title or f"variant {self.asked_variant_id}"

    @property
    def pinned(self) -> bool:
        """Whether the retailer chose the supplier; such a line is never routed elsewhere."""
        return self.asked_supplier_id is not None or self.asked_variant_id is not None

    @property
    def unplaced(self) -> int:
        """Pieces that no supplier has: refused by all, or waiting for stock."""
        return self.rejected + self.waiting

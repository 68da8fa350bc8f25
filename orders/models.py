"""Orders, their lines and cancel requests, and each retailer's clock (contract 4)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import date
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Now

from accounts.actors import Actor
from accounts.models import Retailer, WhenShort, default_currency
from api.amounts import NO_AMOUNT
from fulfillments.planning.candidates import WantedLine
from orders.change import OrderChange, change_of
from orders.nightly_results import Reconciliation as Reconciliation  # Django looks for models in this module
from orders.pending_erasures import PendingErasure as PendingErasure
from orders.personal import personal
from orders.processing_state import FINISHED, ProcessingState
from orders.search_entries import SearchEntry as SearchEntry

NO_DEADLINE = date.max
"""The sort key of orders without a `ship_until`: they come after all other orders."""


class OrderType(models.TextChoices):
    DROPSHIP = "dropship"
    REPLENISH = "replenish"


class OrderQuerySet(models.QuerySet["Order"]):
    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)


class Order(models.Model):
    """One order of one retailer."""

    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, related_name="orders", db_index=False)
    retailer_order_id = models.CharField(max_length=100)
    generation = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="Counts the orders of one number: a canceled order's number can be used again.",
    )
    type = models.CharField(max_length=20, choices=OrderType.choices, default=OrderType.DROPSHIP)
    id_in_source = models.CharField(max_length=100, blank=True)
    billing_address = personal(models.JSONField(default=dict))
    shipping_address = personal(models.JSONField(default=dict))
    shipping_method_code = models.CharField(max_length=100, blank=True)
    currency = models.CharField(
        max_length=3,
        default=default_currency,
        db_default=settings.CURRENCY,
        help_text="The currency of billed amounts, shipping and taxes.",
    )
    # The sum of the lines' billed amounts. Operators sort open orders by this amount.
    billed_total = models.DecimalField(max_digits=24, decimal_places=4, null=True, editable=False)
    shipping_paid = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    shipping_tax = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    sales_division_code = models.CharField(max_length=100, blank=True)
    sales_order_number = models.CharField(max_length=100, blank=True)
    gift_message = personal(models.TextField(blank=True))
    is_gift = models.BooleanField(default=False)
    ship_until = models.DateField(null=True)
    original_created_at = models.DateField(null=True)
    notes = personal(models.JSONField(default=list))
    when_short = models.CharField(
        max_length=12,
        choices=WhenShort.choices,
        null=True,
        help_text="What happens to units that are not in stock. If empty, the partnership's setting applies.",
    )
    content_digest = models.CharField(max_length=64, editable=False)

    held = models.BooleanField(
        default=False, help_text="Suppliers cannot work on the order until it is released."
    )
    has_unknown_country = models.BooleanField(
        db_default=False, default=False, help_text="The shipping country is not recognized."
    )
    processing_state = models.CharField(
        max_length=20, choices=ProcessingState.choices, default=ProcessingState.RECEIVED, editable=False
    )
    updated_at = models.DateTimeField(
        null=True, editable=False, help_text="The moment of the last change. Each change gets a later moment."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    erased_at = models.DateTimeField(
        null=True, editable=False, help_text="When the consumer's personal data was erased."
    )

    objects = OrderQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                "retailer", "retailer_order_id", "generation", name="order_generation_once"
            ),
            models.UniqueConstraint("retailer", "updated_at", name="order_stamp_once"),
            models.CheckConstraint(
                condition=Q(processing_state__in=ProcessingState.values), name="order_state"
            ),
            models.CheckConstraint(condition=Q(type__in=OrderType.values), name="order_type"),
            models.CheckConstraint(condition=Q(when_short__in=WhenShort.values), name="order_when_short"),
        ]
        indexes = [
            # Every filter of the retailer's list has an index, because a filter must not read all finished
            # orders.
            models.Index("retailer", "processing_state", "updated_at", name="order_by_state"),
            models.Index("retailer", "created_at", name="order_by_creation"),
            # The portal lists a retailer's orders by id: all orders, open orders, or one finished state.
            models.Index("retailer", "id", name="order_of_retailer"),
            models.Index(
                "retailer",
                "id",
                condition=~Q(processing_state__in=[*FINISHED]),
                name="order_of_retailer_open",
            ),
            models.Index(
                "retailer",
                "processing_state",
                "id",
                condition=Q(processing_state__in=[*FINISHED]),
                name="order_of_retailer_finished",
            ),
            models.Index(
                "retailer",
                "sales_order_number",
                condition=~Q(sales_order_number=""),
                name="order_by_sales_number",
            ),
            # The type comes first, because operators filter by type across all retailers.
            models.Index("type", "retailer", "updated_at", name="order_by_type"),
            models.Index("id", condition=Q(has_unknown_country=True), name="order_unknown_country"),
            models.Index("id", condition=Q(held=True), name="order_held"),
            models.Index(
                "processing_state",
                "id",
                condition=~Q(processing_state__in=[*FINISHED]),
                name="order_open",
            ),
            # Open orders by deadline, for operators; orders without a deadline come last.
            models.Index(
                Coalesce("ship_until", Value(NO_DEADLINE)),
                "id",
                condition=~Q(processing_state__in=[*FINISHED]),
                name="order_open_due",
            ),
            # Held orders and orders to an unknown country have their own indexes, because a search among very
            # many open orders would be slow.
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
                Coalesce("billed_total", Value(NO_AMOUNT)),
                "id",
                condition=~Q(processing_state__in=[*FINISHED]),
                name="order_open_amount",
            ),
            models.Index(
                "updated_at",
                condition=Q(processing_state__in=[*FINISHED], erased_at=None),
                name="order_to_erase",
            ),
        ]

    def __str__(self) -> str:
        return self.retailer_order_id

    def change(self, *, by: Actor) -> AbstractContextManager[OrderChange[Order]]:
        """Begin a change: `with order.change(by=actor) as change:`.

        Raises RuntimeError while another change is under way.
        """
        return change_of(self, by=by)

    def lock(self) -> None:
        """Lock the row, and read again the fields on which the decisions of a change depend."""
        self.refresh_from_db(
            fields=["held", "processing_state", "shipping_address", "has_unknown_country", "ship_until"],
            from_queryset=Order.objects.select_for_update(no_key=True),
        )

    def lines_in(self, line_ids: Iterable[int]) -> list[WantedLine]:
        """Return the order's lines with these ids."""
        rows = self.lines.filter(pk__in=line_ids).values_list(*WantedLine._fields)
        return [WantedLine(*row) for row in rows]


class CancelRequest(models.Model):
    """A cancel request with the retailer's own `cancel_id`. A request with the same id is not run again."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="cancel_requests")
    cancel_id = models.CharField(
        max_length=100, help_text="The retailer's own name for the request, used once."
    )
    reason = models.CharField(max_length=500, blank=True)
    lines = models.JSONField(
        default=list, help_text="The lines as the request named them; empty for the whole order."
    )
    canceled = models.PositiveIntegerField(help_text="Units that were canceled at once.")
    requested = models.PositiveIntegerField(help_text="Units that suppliers were asked to release.")
    shipped = models.PositiveIntegerField(help_text="Units that were already shipped.")
    requested_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("order", "cancel_id", name="cancel_request_once")]

    def __str__(self) -> str:
        return self.cancel_id


class RetailerClock(models.Model):
    """A retailer's last `updated_at`, and its counts of completed, canceled and pending orders.

    A change locks this row last, from the stamp to the commit. Therefore stamps become visible in ascending
    order, and two orders never have the same stamp.
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

    `open` units are with suppliers. `waiting` units have no supplier until stock arrives, because the order
    or a partnership prefers to wait. `rejected` units were refused, and no other supplier took them.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    position = models.PositiveIntegerField()
    sku = models.CharField(max_length=100, blank=True)
    upc = models.CharField(max_length=14, blank=True)
    title = models.CharField(
        max_length=500,
        blank=True,
        help_text="The title of the first variant that filled the line, at the time of the push.",
    )
    asked_supplier_id = models.BigIntegerField(null=True, help_text="The supplier_id that was pushed.")
    asked_variant_id = models.BigIntegerField(null=True, help_text="The variant_id that was pushed.")
    quantity = models.PositiveIntegerField()
    billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    tax_billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    notes = personal(models.JSONField(default=list))

    open = models.PositiveIntegerField(default=0)
    reserved = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0, db_default=0)
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0, help_text="Shipped units that came back.")
    dropped = models.PositiveIntegerField(default=0, help_text="Canceled units that no supplier had.")
    waiting_since = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Since when some units have no stock reserved; empty if all have.",
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
        # Indexes of the lines that wait for stock: by id, and by each field that can name a variant. They are
        # small, because few lines wait for stock.
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
        """The name of the ordered goods for people: the sku, else the upc, the title or the variant id."""
        return self.sku or self.upc or self.title or f"variant {self.asked_variant_id}"

    @property
    def pinned(self) -> bool:
        """Whether the retailer chose the supplier. If so, the line is never routed to another supplier."""
        return self.asked_supplier_id is not None or self.asked_variant_id is not None

    @property
    def unrouted(self) -> int:
        """The units that no supplier has, because they were refused or wait for stock."""
        return self.rejected + self.waiting

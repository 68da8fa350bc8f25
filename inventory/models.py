"""Warehouses, stock levels and the ledger of stock movements (contract 7)."""

from __future__ import annotations

from typing import Self

from django.contrib.postgres.indexes import BrinIndex
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import Invalid
from catalog.models import Variant, this_change
from catalog.snapshot import take_snapshot_after_commit
from events.recording import record
from inventory.arrivals import stock_arrived
from inventory.elements import MOST
from inventory.expecting import expect


class Warehouse(models.Model):
    """A building that a supplier ships from."""

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="warehouses")
    name = models.CharField(max_length=100)
    is_default = models.BooleanField(
        default=False, help_text="Order lines that no warehouse has in stock go to this warehouse."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    heard_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When a stock push last counted here; updated at most every 10 minutes.",
    )

    class Meta:
        ordering = ["supplier_id", "id"]
        constraints = [
            models.UniqueConstraint(
                "supplier",
                "name",
                name="warehouse_name_once",
                violation_error_message="The supplier has another warehouse of this name.",
            ),
            models.UniqueConstraint(
                F("supplier"),
                condition=Q(is_default=True),
                name="warehouse_one_default",
                violation_error_message="Another warehouse is the default. Change that warehouse first.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class StockLevelQuerySet(models.QuerySet["StockLevel"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(warehouse__supplier=supplier)


class StockLevel(models.Model):
    """The stock of one variant in one warehouse, in units."""

    variant = models.ForeignKey(Variant, on_delete=models.CASCADE, related_name="stock", db_index=False)
    warehouse = models.ForeignKey(Warehouse, on_delete=models.PROTECT, related_name="stock", db_index=False)
    on_hand = models.PositiveIntegerField(default=0)
    reserved = models.PositiveIntegerField(default=0)
    counted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the supplier counted on_hand; without such a time, when the count arrived.",
    )
    stocked_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When the supplier last counted units here; empty after a refusal as out of stock.",
    )
    overpromised = models.GeneratedField(
        expression=Q(reserved__gt=F("on_hand")),  # type: ignore[arg-type]  # the stubs allow no conditions
        output_field=models.BooleanField(),
        db_persist=True,
    )
    changed_in = models.BigIntegerField(
        db_default=this_change(),
        editable=False,
        help_text="The number of the last change of this row; set by a trigger.",
    )
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = StockLevelQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("variant", "warehouse", name="stock_level_once"),
            models.CheckConstraint(condition=Q(on_hand__gte=0, reserved__gte=0), name="stock_not_negative"),
        ]
        indexes = [
            models.Index("warehouse", "variant", name="stock_of_warehouse"),
            # Use `overpromised` as the condition. The two quantities change with every push, and a condition
            # that names them would force PostgreSQL to write the index each time.
            models.Index("id", condition=Q(overpromised=True), name="stock_overpromised"),
            BrinIndex("changed_in", pages_per_range=16, autosummarize=True, name="stock_changed_in"),
        ]

    def __str__(self) -> str:
        cached = self._state.fields_cache  # show only names that are already loaded
        variant = self.variant.sku if "variant" in cached else self.variant_id
        warehouse = self.warehouse.name if "warehouse" in cached else self.warehouse_id
        return f"{variant} at {warehouse}: {self.on_hand} ({self.reserved} reserved)"

    def open(self, on_hand: int, *, by: Actor) -> None:
        """Save this new row with its opening movement."""
        with transaction.atomic():
            self.on_hand = on_hand
            self.stocked_at = timezone.now() if on_hand else None
            self.save(force_insert=True)
            opening = StockMovement.of(self, MovementKind.OPENING, on_hand_change=on_hand, by=by)
            opening.save(force_insert=True)
            stock_arrived([self.variant_id])

    def count(self, on_hand: int, *, by: Actor) -> bool:
        """Set `on_hand` to a new count, and return whether the number changed."""
        with transaction.atomic():
            self._lock()
            change = on_hand - self.on_hand
            self._set(on_hand, counted_at=Now(), **({"stocked_at": Now()} if on_hand else {}))
            if change:
                self._record(MovementKind.COUNT, change, by=by)
        self.refresh_from_db()
        return bool(change)

    def adjust(self, units: int, *, reason: str, by: Actor) -> None:
        """Add found units to `on_hand`, or remove units (broken, given away) if the number is negative.

        Raises Invalid if `on_hand` would drop below 0 or exceed the column's maximum.
        """
        with transaction.atomic():
            self._lock()
            if not 0 <= self.on_hand + units <= MOST:
                message = f"{self.on_hand} units are on hand. The result must be from 0 to {MOST}."
                raise Invalid.at("adjust_by", message)
            self._set(self.on_hand + units)
            self._record(MovementKind.ADJUST, units, by=by, reason=reason, moved=units)
        self.refresh_from_db()

    def _lock(self) -> None:
        self.refresh_from_db(from_queryset=StockLevel.objects.select_for_update())

    def _set(self, on_hand: int, **fields: object) -> None:
        if on_hand != self.on_hand:
            fields |= {"on_hand": on_hand, "updated_at": Now()}
        for name, value in fields.items():
            setattr(self, name, value)
        self.save(update_fields=fields)

    def _record(
        self, kind: MovementKind, change: int, *, by: Actor, reason: str = "", moved: int = 0
    ) -> None:
        """Write the movement and the event of a change of `on_hand`."""
        movement = StockMovement.of(self, kind, on_hand_change=change, by=by, reason=reason)
        movement.moved = moved
        movement.save(force_insert=True)
        data: dict[str, object] = {
            "warehouse_id": self.warehouse_id,
            "variant_id": self.variant_id,
            "on_hand": {"from": self.on_hand - change, "to": self.on_hand},
        }
        if reason:
            data["reason"] = reason
        event = "inventory.adjusted" if kind == MovementKind.ADJUST else "inventory.updated"
        record(event, by=by, area="inventory", supplier=self.warehouse.supplier, data=data)
        take_snapshot_after_commit()
        if change > 0:
            # Allocate first, so that orders that get this stock get no notice about the restock date.
            stock_arrived([self.variant_id])
            expect({(self.variant_id, self.warehouse_id): None})


class ExpectedStock(models.Model):
    """The day on which a supplier expects new stock of a variant in a warehouse (`inventory.expecting`)."""

    variant = models.ForeignKey(
        Variant, on_delete=models.CASCADE, related_name="expected_stock", db_index=False
    )
    warehouse = models.ForeignKey(Warehouse, on_delete=models.CASCADE, related_name="+", db_index=False)
    expected_at = models.DateField(null=True, help_text="Empty after the stock has arrived.")
    is_announced = models.BooleanField(
        default=False, db_default=False, help_text="The orders that wait for the stock know the date."
    )
    changed_in = models.BigIntegerField(
        db_default=this_change(), editable=False, help_text="The number of the last change of this row."
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("variant", "warehouse", name="expected_stock_once"),
        ]
        indexes = [
            models.Index("id", condition=Q(is_announced=False), name="expected_stock_new"),
            models.Index("changed_in", name="expected_stock_changed_in"),
        ]

    def __str__(self) -> str:
        return f"variant {self.variant_id} expected on {self.expected_at}"


class MovementKind(models.TextChoices):
    """The reasons for which a stock row changes."""

    OPENING = "opening"
    COUNT = "count"
    RESERVE = "reserve"
    RELEASE = "release"
    SHIP = "ship"
    REFUSE = "refuse"
    RETURN = "return"
    ADJUST = "adjust"


class StockMovement(models.Model):
    """A line of the stock ledger. It is added in the transaction of the stock change.

    A line never changes, with one exception: the erasure of an order erases the reasons of its returns. A
    stock level is the sum of its movements. The table has one partition per month and, for speed, no foreign
    keys.
    """

    id = models.BigAutoField(primary_key=True)
    occurred_at = models.DateTimeField(
        db_default=models.Func(function="clock_timestamp", output_field=models.DateTimeField())
    )
    variant_id = models.BigIntegerField()
    warehouse_id = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=MovementKind.choices)
    on_hand_change = models.IntegerField()
    reserved_change = models.IntegerField()
    on_hand = models.IntegerField(help_text="After this movement.")
    reserved = models.IntegerField(help_text="After this movement.")
    moved = models.IntegerField(
        db_default=0,
        help_text="Units that came back or (below 0) left, even if no count had included them.",
    )
    actor = models.CharField(max_length=200, db_default="")
    request_id = models.CharField(max_length=100, db_default="")
    order_id = models.BigIntegerField(null=True)
    fulfillment_id = models.BigIntegerField(null=True)
    import_id = models.BigIntegerField(null=True)
    line = models.IntegerField(null=True, help_text="The line of the import's file.")
    reason = models.CharField(max_length=500, db_default="")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index("variant_id", "warehouse_id", "id", name="movement_of_stock"),
            models.Index("warehouse_id", "kind", "id", name="movement_of_warehouse"),
            models.Index("order_id", "id", condition=Q(order_id__isnull=False), name="movement_of_order"),
            models.Index(
                fields=["warehouse_id", "occurred_at"],
                include=["variant_id", "moved"],
                condition=~Q(moved=0),
                name="movement_of_pieces",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.on_hand_change:+} ({self.reserved_change:+} reserved)"

    @property
    def signed_on_hand(self) -> str:
        return f"{self.on_hand_change:+}"

    @property
    def signed_reserved(self) -> str:
        return f"{self.reserved_change:+}"

    @classmethod
    def of(
        cls,
        level: StockLevel,
        kind: MovementKind,
        *,
        on_hand_change: int,
        reserved_change: int = 0,
        by: Actor,
        reason: str = "",
    ) -> Self:
        """Return the unsaved movement of a change that was just made to a locked or new stock row."""
        return cls(
            variant_id=level.variant_id,
            warehouse_id=level.warehouse_id,
            kind=kind,
            on_hand_change=on_hand_change,
            reserved_change=reserved_change,
            on_hand=level.on_hand,
            reserved=level.reserved,
            actor=by.name,
            request_id=by.request_id,
            reason=reason,
        )

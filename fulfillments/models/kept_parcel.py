"""Parcels that left before their order was held. They are recorded as shipped when the order is released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Protocol

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from api.errors import Invalid
from api.renderers import iso
from events.models import Event
from fulfillments import states
from fulfillments.change import Change, Recorded
from fulfillments.models.line import FulfillmentLine
from fulfillments.models.mechanism import MoveOutcome
from fulfillments.models.quantities import Quantities, as_items, check_within
from fulfillments.models.shipment import ParcelContent


class KeepsParcels(Recorded, Protocol):
    """The parts of `Fulfillment` that this module uses.

    This module cannot import the class, because the module of the class imports this module.
    """

    order_id: int
    state: str
    lines: Any
    kept_parcels: Any

    @property
    def is_held(self) -> bool: ...

    def touch(self) -> None: ...
    def accept(self, change: Change) -> MoveOutcome: ...
    def ship(
        self,
        change: Change,
        *,
        tracking_number: str,
        carrier: str,
        quantities: Quantities | None,
        shipped_at: datetime | None,
    ) -> MoveOutcome: ...


class KeptParcel(ParcelContent):
    """A parcel of a held order that is not recorded as shipped yet. Its shipment replaces this row."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="kept_parcels"
    )
    shipped_at = models.DateTimeField(help_text="When the parcel left, before the hold.")
    reported_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("fulfillment", "tracking_number", name="kept_parcel_once"),
            models.CheckConstraint(condition=~Q(tracking_number=""), name="kept_parcel_has_tracking"),
        ]


def keep_parcel(
    fulfillment: KeepsParcels,
    change: Change,
    lines: list[FulfillmentLine],
    parcel: KeptParcel,
    quantities: Quantities | None,
    field: str,
) -> MoveOutcome:
    """Keep a parcel of a held order. A repeated call changes nothing.

    Raises OrderHeld for a parcel that left after the hold. Raises Invalid at `field` if the open units,
    without the units in other kept parcels, are too few.
    """
    kept = list(fulfillment.kept_parcels.all())
    known = next((each for each in kept if each.tracking_number == parcel.tracking_number), None)
    if known is not None:
        known.check_repeated(fulfillment.state, parcel.carrier, quantities, lines)
        return MoveOutcome.UNCHANGED
    if parcel.shipped_at >= _held_since(fulfillment.order_id):
        states.SHIP.check_held(held=True)
    unsent = _outside(kept)
    units = {line.pk: unsent(line) for line in lines} if quantities is None else quantities
    check_within(lines, units, unsent, "open", field)
    parcel.items = as_items(units)
    if not parcel.items:
        raise Invalid.at(field, "Must name at least one line and quantity.")
    parcel.save(force_insert=True)
    fulfillment.touch()
    data = {"tracking_number": parcel.tracking_number, "carrier": parcel.carrier, "items": parcel.items}
    data["shipped_at"] = iso(parcel.shipped_at)
    change.record("fulfillment.parcel_kept", fulfillment=fulfillment, data=data)
    return MoveOutcome.KEPT


def unsent_units(fulfillment: KeepsParcels) -> Callable[[FulfillmentLine], int]:
    """Return a function that counts the open units of a line that have not left in a kept parcel."""
    return _outside(fulfillment.kept_parcels.all() if fulfillment.is_held else ())


def _outside(kept: Iterable[KeptParcel]) -> Callable[[FulfillmentLine], int]:
    left = Counter[int]()
    for item in (item for each in kept for item in each.items):
        left[item["line"]] += item["quantity"]
    return lambda line: max(line.open - left[line.pk], 0)


def all_left(fulfillment: KeepsParcels) -> str:
    """Return why a fulfillment without unsent units cannot be reassigned."""
    numbers = ", ".join(each.tracking_number for each in fulfillment.kept_parcels.all())
    return (
        f"All open units left in parcels before the hold: {numbers}. Release the order to ship these parcels."
    )


def _held_since(order_id: int) -> datetime:
    held = Event.objects.filter(order_id=order_id, type="order.held")
    return held.order_by("id").values_list("occurred_at", flat=True).reverse()[0]


def ship_kept_parcels(fulfillment: KeepsParcels, change: Change) -> None:
    """Ship the kept parcels of a released fulfillment, and accept it first if it is new.

    Units that are no longer open are not shipped. A parcel without open units stays kept for operators.
    """
    kept = list(fulfillment.kept_parcels.all())
    if not kept or fulfillment.state not in states.WORKABLE:
        return
    if fulfillment.state == states.NEW:
        fulfillment.accept(change)
    for parcel in kept:
        # Read the lines again: `fulfillment.lines` may have been read before the cancellation of units.
        lines = FulfillmentLine.objects.filter(fulfillment_id=fulfillment.pk)
        left = {line.pk: line.open for line in lines}
        units = {item["line"]: min(item["quantity"], left[item["line"]]) for item in parcel.items}
        if any(units.values()):
            fulfillment.ship(
                change,
                tracking_number=parcel.tracking_number,
                carrier=parcel.carrier,
                quantities={line: quantity for line, quantity in units.items() if quantity},
                shipped_at=parcel.shipped_at,
            )
            parcel.delete()

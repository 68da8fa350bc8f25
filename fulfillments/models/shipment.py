from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from api.errors import ApiError, InvalidTransition
from api.inside_search import trigrams
from api.prefix_search import folded
from fulfillments.models.line import FulfillmentLine
from fulfillments.models.mechanism import check_same, repeated_otherwise
from fulfillments.models.quantities import Quantities, by_variant, in_words
from fulfillments.tracking import identify, tracking_url


class CorrectionTooLate(ApiError):
    code, status = "correction_too_late", 409


class TrackingNumberTaken(ApiError):
    """The error for a tracking number that another parcel of the fulfillment has."""

    code, status = "tracking_number_taken", 409


class ParcelContent(models.Model):
    """A tracking number and its units: the base of shipped parcels and of kept parcels."""

    tracking_number = models.CharField(max_length=100)
    carrier = models.CharField(max_length=100, blank=True)
    items = models.JSONField(default=list, help_text='The units in the parcel: [{"line": id, "quantity": n}]')

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.tracking_number

    def check_repeated(
        self, state: str, carrier: str, quantities: Quantities | None, lines: list[FulfillmentLine]
    ) -> None:
        """Raise InvalidTransition if a repeated call has another carrier or other units.

        `state` is the state of the fulfillment, which the message names.
        """
        check_same(state, "carrier", identify(self.tracking_number, self.carrier).carrier, carrier)
        self.check_same_units(state, quantities, lines)

    def check_same_units(
        self, state: str, quantities: Quantities | None, lines: list[FulfillmentLine]
    ) -> None:
        """Raise InvalidTransition if a repeated call has other units."""
        shipped = {item["line"]: item["quantity"] for item in self.items}
        if quantities is not None and by_variant(lines, quantities) != by_variant(lines, shipped):
            before, now = in_words(lines, shipped), in_words(lines, quantities)
            shipped_before = f"The parcel {self.tracking_number} was shipped before with {before}"
            raise repeated_otherwise(state, shipped_before, now)


class Shipment(ParcelContent):
    """A supplier's parcel with one tracking number."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="shipments"
    )
    shipped_at = models.DateTimeField(db_default=Now())
    is_carrier_named = models.BooleanField(
        default=True, db_default=True, help_text="The supplier named the carrier; otherwise it is derived."
    )
    is_doubtful = models.BooleanField(
        default=False, db_default=False, help_text="The check digit of the tracking number is wrong."
    )
    reported_numbers = ArrayField(
        models.CharField(max_length=100),
        default=list,
        db_default=[],
        help_text="The tracking numbers before each correction, oldest first.",
    )

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(folded("tracking_number"), name="shipment_tracking_folded"),
            trigrams("tracking_number", "shipment_tracking_trigrams"),
        ]
        constraints = [
            models.UniqueConstraint("fulfillment", "tracking_number", name="shipment_once"),
            models.CheckConstraint(condition=~Q(tracking_number=""), name="shipment_has_tracking"),
        ]

    @property
    def tracking_url(self) -> str | None:
        return tracking_url(self.tracking_number, self.carrier)

    @property
    def shipped_as(self) -> str:
        """The tracking number that the supplier reported first."""
        return self.reported_numbers[0] if self.reported_numbers else self.tracking_number

    def check_reported(
        self,
        number: str,
        state: str,
        carrier: str,
        quantities: Quantities | None,
        lines: list[FulfillmentLine],
    ) -> None:
        """Raise InvalidTransition if a repeated call with a present or former number has other values.

        A call with a former number may have another carrier, which the correction replaced.
        """
        if number in self.reported_numbers:
            self.check_same_units(state, quantities, lines)
        else:
            self.check_repeated(state, carrier, quantities, lines)

    def correct(self, tracking_number: str, carrier: str | None) -> dict[str, object]:
        """Set the number and the carrier. Return the event's data, or an empty dict if both are unchanged.

        If `carrier` is None, a carrier that the supplier named stays, and a derived carrier is derived again
        from the new number. Raises CorrectionTooLate or TrackingNumberTaken.
        """
        named = self.carrier if carrier is None and self.is_carrier_named else carrier or ""
        parcel = identify(tracking_number, named)
        if (tracking_number, parcel.carrier) == (self.tracking_number, self.carrier):
            if carrier is not None and self.is_carrier_named != parcel.is_named:
                self.is_carrier_named = parcel.is_named  # a named carrier stays when the number changes
                self.save(update_fields=["is_carrier_named"])
            return {}
        self._check_correctable(tracking_number)
        before = {"old_tracking_number": self.tracking_number, "old_carrier": self.carrier}
        newly_doubtful = {"doubtful": True} if parcel.is_doubtful and not self.is_doubtful else {}
        self.reported_numbers = [*self.reported_numbers, self.tracking_number]
        self.tracking_number, self.carrier = tracking_number, parcel.carrier
        self.is_carrier_named, self.is_doubtful = parcel.is_named, parcel.is_doubtful
        self.save(
            update_fields=[
                *("tracking_number", "carrier", "is_carrier_named", "is_doubtful", "reported_numbers"),
            ]
        )
        now = {"tracking_number": self.tracking_number, "carrier": self.carrier}
        return {"shipment_id": self.pk, **now, **before, "shipped_as": self.shipped_as, **newly_doubtful}

    def _check_correctable(self, tracking_number: str) -> None:
        days = settings.SHIPMENT_CORRECTION_DAYS
        if not days:
            raise CorrectionTooLate("Parcels cannot be corrected on this service. Ask its operator.")
        if timezone.now() - self.shipped_at > timedelta(days=days):
            raise CorrectionTooLate(
                f"The parcel {self.tracking_number} was shipped on {self.shipped_at:%Y-%m-%d}. "
                f"A parcel can be corrected for {days} days."
            )
        # A number that another parcel had before its correction is free: two swapped labels need it.
        others = self.fulfillment.shipments.filter(tracking_number=tracking_number).exclude(pk=self.pk)
        kept = self.fulfillment.kept_parcels.filter(tracking_number=tracking_number)
        if others.exists() or kept.exists():
            raise TrackingNumberTaken.at(
                "tracking_number",
                f"Another parcel of this fulfillment has the tracking number {tracking_number}.",
                TrackingNumberTaken.code,
            )


def is_repeated(parcels: Iterable[Shipment], check: Callable[[Shipment], None]) -> bool:
    """Return whether a call repeats one of these parcels.

    Raises the InvalidTransition of the first parcel if the call differs from each parcel.
    """
    refusals = []
    for parcel in parcels:
        try:
            check(parcel)
        except InvalidTransition as refusal:
            refusals.append(refusal)
        else:
            return True
    if refusals:
        raise refusals[0]
    return False

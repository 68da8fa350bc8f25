"""The request bodies that ship and correct parcels (interface 4.3, contract 10 and 21)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema_serializer
from rest_framework.exceptions import ErrorDetail, ValidationError

from api import fields
from api.bodies import Body
from fulfillments.models.quantities import NAMES
from fulfillments.serializers import SkuItemBody, TrackingBody, refuse_two
from fulfillments.tracking.carriers import spelled

CLOCKS_DIFFER = timedelta(minutes=5)


class ParcelLineBody(SkuItemBody):
    """Units of one line of the fulfillment, named by its `id`, or by the variant's sku, upc or ean."""

    id = fields.Id(required=False)

    def validate(self, line: dict[str, object]) -> dict[str, object]:
        if not any(line.get(name) for name in NAMES):
            message = "Needs the id of a line, or its sku, upc or ean."
            raise ValidationError({"id": [ErrorDetail(message, code="required")]})
        return line


class LeftAt(fields.Moment):
    """The moment at which a parcel left. A moment in the future is refused."""

    def to_internal_value(self, data: object) -> datetime:
        moment = super().to_internal_value(data)
        if moment > timezone.now() + CLOCKS_DIFFER:
            raise ValidationError("Is in the future.", code="future")
        return moment


class ShipBody(TrackingBody):
    """One parcel. Without `lines`, the parcel has all open units."""

    narrowed_by = "lines"

    carrier = fields.Optional(max_length=100)
    shipped_at = LeftAt(required=False, allow_null=True)
    lines = ParcelLineBody(many=True, required=False, allow_null=True, allow_empty=False)

    def validate(self, body: dict[str, object]) -> dict[str, object]:
        body = super().validate(body)
        if not body["tracking_number"]:
            message = "A parcel needs its tracking number."
            raise ValidationError({"tracking_number": [ErrorDetail(message, code="required")]})
        return body


class CorrectionBody(Body):
    """The right tracking number of a parcel, its carrier, or both."""

    tracking_number = fields.Text(max_length=100, required=False)
    carrier = fields.Text(
        max_length=100,
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="Empty: derived from the tracking number.",
    )

    def validate(self, body: dict[str, object]) -> dict[str, object]:
        if not body.keys() & {"tracking_number", "carrier"}:
            message = "Needs a tracking_number, a carrier, or both."
            raise ValidationError({"tracking_number": [ErrorDetail(message, code="required")]})
        if "carrier" in body:
            body["carrier"] = body["carrier"] or ""
        return body


# Client generators give `tracking_number` and `trackingNumber` the same name, so the API documents only
# `trackingNumber` (docs/adr/0049).
@extend_schema_serializer(exclude_fields=["tracking_number"])
class ParcelBody(Body):
    trackingNumber = fields.Text(max_length=100, required=False)
    tracking_number = fields.Text(max_length=100, required=False)
    carrier = fields.Optional(max_length=100)
    shipped_at = LeftAt(required=False, allow_null=True)
    items = SkuItemBody(many=True, allow_empty=False)

    def validate(self, parcel: dict[str, object]) -> dict[str, object]:
        refuse_two(parcel, "trackingNumber", "tracking_number")
        number = parcel.pop("trackingNumber", None) or parcel.get("tracking_number")
        if not number:
            message = "A parcel needs its tracking number."
            raise ValidationError({"trackingNumber": [ErrorDetail(message, code="required")]})
        parcel["tracking_number"] = number
        return parcel


class ShipmentsBody(Body):
    """Several parcels of one fulfillment (contract 10)."""

    often_meant: ClassVar[Mapping[str, str]] = {"carrier": "shipments[].carrier"}

    id = fields.Id()
    shipments = ParcelBody(many=True, allow_empty=False, max_length=500)  # type: ignore[call-arg]

    def validate(self, body: dict[str, Any]) -> dict[str, object]:
        """Merge the elements with the same tracking number into one parcel."""
        parcels: dict[str, dict[str, Any]] = {}
        for parcel in body["shipments"]:
            known = parcels.setdefault(parcel["tracking_number"], {**parcel, "items": []})
            known["shipped_at"] = known.get("shipped_at") or parcel.get("shipped_at")
            known["carrier"] = known.get("carrier") or parcel.get("carrier", "")
            if spelled(parcel.get("carrier") or known["carrier"]) != spelled(known["carrier"]):
                raise _differing(parcel["tracking_number"], "carrier")
            if parcel.get("shipped_at") not in (None, known["shipped_at"]):
                raise _differing(parcel["tracking_number"], "moment in shipped_at")
            known["items"].extend(parcel["items"])
        body["shipments"] = list(parcels.values())
        return body


def _differing(tracking_number: str, name: str) -> ValidationError:
    message = f"The parcel {tracking_number} has another {name} in an earlier element."
    return ValidationError({"shipments": [ErrorDetail(message, code="invalid")]})

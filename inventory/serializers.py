"""Bodies and answers of stock (contract 7 and 12)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypedDict

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.bodies import Body
from api.fields import Id, Moment, Text
from api.renderers import iso
from inventory.elements import IdType
from inventory.models import StockLevel, Warehouse
from inventory.pushing import Outcome

MOST_ELEMENTS = 50_000
CLOCK_SKEW = timedelta(minutes=5)

ELEMENT = {
    "type": "object",
    "properties": {
        "id": {
            "type": ["string", "integer"],
            "description": "The identifier; also under the id type's own name.",
        },
        "amount": {
            "type": ["integer", "string"],
            "minimum": 0,
            "description": "Also under the name `quantity`.",
        },
    },
    "example": {"id": "A-1", "amount": 5},
}


@extend_schema_field({"type": "array", "items": ELEMENT, "maxItems": MOST_ELEMENTS})
class Elements(serializers.Field[list[object], Any, Any, Any]):
    """The array itself; its elements are read one by one, so that each can be wrong alone."""

    default_error_messages = {
        "invalid": "Must be an array.",
        "too_many": "Has {count} elements; {most} is the most in one push. Send it in parts.",
    }

    def to_internal_value(self, data: Any) -> list[object]:
        if not isinstance(data, list):
            self.fail("invalid")
        if len(data) > MOST_ELEMENTS:
            self.fail("too_many", count=len(data), most=MOST_ELEMENTS)
        return data

    def to_representation(self, value: list[object]) -> Any:
        return value


@extend_schema_field({"type": "string", "enum": list(IdType), "default": IdType.SKU.value})
class IdTypeField(Text):
    """One of the id types, in any case; `sku` when absent."""

    default_error_messages = {"unknown": "Must be one of {known}."}

    def to_internal_value(self, data: Any) -> Any:
        try:
            return IdType(super().to_internal_value(data).lower())
        except ValueError:
            self.fail("unknown", known=", ".join(IdType))


class PushBody(Body):
    """Counts of one warehouse. `as_of` is when they were taken: an older one never replaces a newer."""

    warehouse_id = Id()
    id_type = IdTypeField(required=False, default=IdType.SKU)
    inventories = Elements()
    as_of = Moment(required=False, allow_null=True)

    def validate_as_of(self, value: Any) -> Any:
        if value is not None and value > timezone.now() + CLOCK_SKEW:
            raise serializers.ValidationError("Is in the future: no later count would be taken until then.")
        return value


class ElementErrorJson(TypedDict):
    """Why one element did not land; `index` counts from 0."""

    index: int
    id: str | int | None
    code: str
    message: str


class PushJson(TypedDict):
    """What became of a push. `duplicates` are elements that a later one of the same push overrode."""

    updated: int
    unchanged: int
    rejected: int
    duplicates: int
    errors: list[ElementErrorJson]


def push_json(outcome: Outcome) -> dict[str, object]:
    return {
        "updated": outcome.updated,
        "unchanged": outcome.unchanged,
        "rejected": len(outcome.faults),
        "duplicates": outcome.duplicates,
        "errors": [
            {"index": fault.place, "id": fault.identifier, "code": fault.code, "message": fault.message}
            for fault in outcome.faults
        ],
    }


class StockJson(TypedDict):
    """The stock of one variant in one warehouse, in pieces; `available` is what may still be ordered."""

    variant_id: int
    sku: str
    warehouse_id: int
    on_hand: int
    reserved: int
    available: int
    updated_at: str


def stock_json(level: StockLevel, safety_stock: int) -> StockJson:
    return {
        "variant_id": level.variant_id,
        "sku": level.variant.sku,
        "warehouse_id": level.warehouse_id,
        "on_hand": level.on_hand,
        "reserved": level.reserved,
        "available": max(level.on_hand - level.reserved - safety_stock, 0),
        "updated_at": iso(level.updated_at),
    }


class WarehouseJson(TypedDict):
    id: int
    name: str
    is_default: bool


def warehouse_json(warehouse: Warehouse) -> WarehouseJson:
    return {"id": warehouse.pk, "name": warehouse.name, "is_default": warehouse.is_default}

"""Bodies and answers of stock (contract 7 and 12)."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.bodies import Body
from api.fields import Id, Integer, Text
from api.renderers import iso
from imports.serializers.counted import CountedAt
from inventory.elements import IdType
from inventory.models import StockLevel, StockMovement, Warehouse
from inventory.selectors import Actors
from inventory.services import PushResult

MOST_ELEMENTS = 50_000


class InventoryElement(Body):
    """The count of one variant. The identifier may also stand under the id type's own name, such as
    `sku`, and the amount under `quantity`.
    """

    id = Text(required=False, help_text="Which variant: its sku, or what `id_type` names.")
    amount = Integer(required=False, min_value=0, help_text="How many pieces are there.")


@extend_schema_field(InventoryElement(many=True, max_length=MOST_ELEMENTS))  # type: ignore[call-arg]
class Elements(serializers.Field[list[object], Any, Any, Any]):
    """The array itself; its elements are read one by one, so that each can be wrong alone."""

    default_error_messages = {
        "invalid": "Must be an array.",
        "too_many": "Has {count} elements; the maximum for one push is {most}. Send several pushes.",
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
    """Counts of one warehouse, of the moment `as_of`, else of the request. What was shipped after
    that is subtracted, what came back is added, and an older count never replaces a newer.
    """

    most_objects = None  # its elements are counted, and read, one by one

    warehouse_id = Id()
    id_type = IdTypeField(required=False, default=IdType.SKU)
    inventories = Elements()
    as_of = CountedAt(required=False, allow_null=True)


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


def push_json(result: PushResult) -> dict[str, object]:
    return {
        "updated": result.updated,
        "unchanged": result.unchanged,
        "rejected": len(result.errors),
        "duplicates": result.duplicates,
        "errors": [
            {"index": error.index, "id": error.identifier, "code": error.code, "message": error.message}
            for error in result.errors
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


class CauseJson(TypedDict):
    """What moved stock: an order, a line of a file, or a request."""

    order_id: NotRequired[int]
    fulfillment_id: NotRequired[int]
    import_id: NotRequired[int]
    line: NotRequired[int]
    request_id: NotRequired[str]
    reason: NotRequired[str]


class MovementJson(TypedDict):
    """One change of stock; `on_hand` and `reserved` are what they were after it."""

    id: int
    occurred_at: str
    variant_id: int
    sku: str
    warehouse_id: int
    kind: str
    on_hand_change: int
    reserved_change: int
    on_hand: int
    reserved: int
    actor: str
    cause: CauseJson


CAUSES = ("order_id", "fulfillment_id", "import_id", "line", "request_id", "reason")


def movement_json(movement: StockMovement, sku: str, actors: Actors) -> MovementJson:
    """A movement as its supplier reads it; the ids of others' requests are theirs."""
    causes = {name: getattr(movement, name) for name in CAUSES}
    if not actors.is_own(movement.actor):
        causes["request_id"] = ""
    return {
        "id": movement.pk,
        "occurred_at": iso(movement.occurred_at),
        "variant_id": movement.variant_id,
        "sku": sku,
        "warehouse_id": movement.warehouse_id,
        "kind": movement.kind,
        "on_hand_change": movement.on_hand_change,
        "reserved_change": movement.reserved_change,
        "on_hand": movement.on_hand,
        "reserved": movement.reserved,
        "actor": actors.name(movement.actor),
        "cause": cast(CauseJson, {name: value for name, value in causes.items() if value}),
    }

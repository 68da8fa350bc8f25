"""Request bodies and answers of the stock endpoints (contract 7 and 12)."""

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
    """The count of one variant. Instead of `id`, a client may send a field with the name of the id type, such
    as `sku`. Instead of `amount`, a client may send `quantity`.
    """

    id = Text(required=False, help_text="The variant's sku, or its identifier of the kind `id_type`.")
    amount = Integer(required=False, min_value=0, help_text="How many units are on hand.")


@extend_schema_field(InventoryElement(many=True, max_length=MOST_ELEMENTS))  # type: ignore[call-arg]
class Elements(serializers.Field[list[object], Any, Any, Any]):
    """The array of elements. They are validated later, so that one bad element does not fail the push."""

    default_error_messages = {
        "invalid": "Must be an array.",
        "too_many": "Has {count} elements; the maximum for one push is {most}. Send several pushes.",
    }

    def to_internal_value(self, data: object) -> list[object]:
        if not isinstance(data, list):
            self.fail("invalid")
        if len(data) > MOST_ELEMENTS:
            self.fail("too_many", count=len(data), most=MOST_ELEMENTS)
        return data

    def to_representation(self, value: list[object]) -> Any:
        return value


@extend_schema_field({"type": "string", "enum": list(IdType), "default": IdType.SKU.value})
class IdTypeField(Text):
    """An id type in upper or lower case. The default is `sku`."""

    default_error_messages = {"unknown": "Must be one of {known}."}

    def to_internal_value(self, data: Any) -> Any:
        try:
            return IdType(super().to_internal_value(data).lower())
        except ValueError:
            self.fail("unknown", known=", ".join(IdType))


class PushBody(Body):
    """The counts of one warehouse, taken at `as_of` or, without it, when the request arrived. Units
    shipped after that time are subtracted, returned units are added. An older count never replaces a
    newer count.
    """

    most_objects = None  # `Elements` has its own limit

    warehouse_id = Id()
    id_type = IdTypeField(required=False, default=IdType.SKU)
    inventories = Elements()
    as_of = CountedAt(required=False, allow_null=True)


class ElementErrorJson(TypedDict):
    """The error of one rejected element; `index` counts from 0."""

    index: int
    id: str | int | None
    code: str
    message: str


class PushJson(TypedDict):
    """The result of a push. `duplicates` are elements overridden by a later element of the same push."""

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
    """The stock of one variant in one warehouse, in units; `available` can still be ordered."""

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
    """The cause of a stock movement: an order, a line of a file, or a request."""

    order_id: NotRequired[int]
    fulfillment_id: NotRequired[int]
    import_id: NotRequired[int]
    line: NotRequired[int]
    request_id: NotRequired[str]
    reason: NotRequired[str]


class MovementJson(TypedDict):
    """One change of stock; `on_hand` and `reserved` are the values after this change."""

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
    """Return a movement for its supplier; the request ids of other parties are hidden."""
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
